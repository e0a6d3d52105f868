//! The agents and the JSON that each accepts. An agent may reject an answer with unknown fields.

use serde_json::{Value, json};

/// The agents whose hooks semdex understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// OpenAI's Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Cursor.
    Cursor,
}

impl Agent {
    /// In the order of the documentation.
    pub const ALL: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::Cursor];

    /// The name in paths and flags: `claude`.
    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
            Agent::Cursor => "cursor",
        }
    }

    /// The agent of this name. None for an unknown name.
    pub fn named(name: &str) -> Option<Agent> {
        Agent::ALL.into_iter().find(|it| it.name() == name)
    }

    /// A blocking hook of Gemini hides the result of the tool.
    pub(super) fn can_be_stopped(self) -> bool {
        self != Agent::Gemini
    }

    /// A text in addition to the result of the tool.
    pub(super) fn context(self, event: &str, text: &str) -> Value {
        match self {
            Agent::Cursor => json!({"additional_context": text}),
            _ => json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}),
        }
    }

    /// The same text, which the agent must act on before it continues.
    pub(super) fn stopped(self, text: &str) -> Value {
        match self {
            Agent::Cursor => json!({"decision": "block", "reason": text, "additional_context": text}),
            _ => json!({"decision": "block", "reason": text}),
        }
    }

    /// Makes an agent that was about to stop continue with a text.
    pub(super) fn kept_going(self, text: &str) -> Value {
        match self {
            Agent::Cursor => json!({"decision": "block", "reason": text, "followup_message": text}),
            _ => json!({"decision": "block", "reason": text}),
        }
    }

    /// A text for the user, if the agent shows one.
    pub(super) fn message(self, text: &str) -> Option<Value> {
        match self {
            Agent::Cursor => None,
            _ => Some(json!({"systemMessage": text})),
        }
    }

    /// The text at the end of a session.
    pub(super) fn farewell(self, text: &str) -> Option<Value> {
        match self {
            Agent::Cursor => Some(json!({"user_message": text})),
            _ => self.message(text),
        }
    }
}
