//! Gets one whole reply of the model. Transport errors are retried, which does not count as an attempt of the run.

use std::time::Duration;

use futures::StreamExt;
use tokio::time::timeout;

use super::model::{Lasts, Model, Piece, Question, Reply, Stop, Trouble};
use semdex_contract::RunUsage;
use semdex_model::Result;
use semdex_text::reply::{ReplyEdits, ReplyReader};

/// The largest number of requests for one reply.
const TRIES: u32 = 8;
/// The largest number of requests to a model that cannot be reached.
const TRIES_TO_REACH: u32 = 4;
/// The pause before the second request. It is doubled before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// The deadline for the next part of a reply.
const SILENCE: Duration = Duration::from_secs(120);
/// The deadline for a whole reply.
const REPLY_DEADLINE: Duration = Duration::from_secs(20 * 60);

/// A finished reply.
#[derive(Debug)]
pub(crate) struct Said {
    pub stop: Stop,
    /// The edits of the reply, or why they cannot be parsed.
    pub edits: Result<ReplyEdits>,
    pub usage: RunUsage,
}

/// How long to wait for the token counts, which arrive after the end of the reply or not at all.
const AFTER_THE_END: Duration = Duration::from_secs(5);
/// The largest size of a reply.
const LONGEST_REPLY: usize = 4 << 20;

/// `progress` receives the state of the model in a few words.
pub(crate) async fn talk(
    model: &dyn Model,
    question: &Question,
    progress: impl Fn(String),
) -> std::result::Result<Said, Trouble> {
    let mut pause = FIRST_PAUSE;
    for attempt in 1.. {
        let trouble = match once(model, question, &progress).await {
            Ok(said) => return Ok(said),
            Err(trouble) => trouble,
        };
        let most = match trouble.lasts {
            Lasts::Lasting => return Err(trouble),
            Lasts::Unreachable => TRIES_TO_REACH,
            Lasts::Passing => TRIES,
        };
        if attempt >= most {
            let detail = format!("{} (asked {attempt} times)", trouble.detail);
            return Err(Trouble { detail, ..trouble });
        }
        progress(format!("waiting to ask the model again: {}", trouble.detail));
        tokio::time::sleep(jittered(pause)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Err(Trouble::lasting("the model was never asked"))
}

async fn once(
    model: &dyn Model,
    question: &Question,
    progress: &impl Fn(String),
) -> std::result::Result<Said, Trouble> {
    let late = |_| Trouble::passing(format!("the model said nothing for {} s", SILENCE.as_secs()));
    let all = async {
        let stream = timeout(SILENCE, model.reply(question)).await.map_err(late)??;
        read(stream, progress).await
    };
    let too_long = |_| Trouble::passing(format!("the model's reply took more than {} s", REPLY_DEADLINE.as_secs()));
    timeout(REPLY_DEADLINE, all).await.map_err(too_long)?
}

async fn read(mut stream: Reply, progress: &impl Fn(String)) -> std::result::Result<Said, Trouble> {
    let (mut reader, mut stop, mut usage) = (ReplyReader::default(), None, RunUsage::default());
    let (mut edits, mut length) = (0, 0);
    loop {
        let wait = if stop.is_some() { AFTER_THE_END } else { SILENCE };
        let next = timeout(wait, stream.next()).await;
        // An error after the end of the reply is not worth a retry.
        let piece = match (next, &stop) {
            (Ok(Some(Ok(piece))), _) => piece,
            (Ok(None | Some(Err(_))) | Err(_), Some(_)) => break,
            (Ok(Some(Err(trouble))), None) => return Err(trouble),
            (Ok(None), None) => return Err(Trouble::passing("the model's reply was cut off")),
            (Err(_), None) => {
                let seconds = SILENCE.as_secs();
                return Err(Trouble::passing(format!("the model said nothing for {seconds} s")));
            }
        };
        match piece {
            Piece::Text(text) => {
                length += text.len();
                if length > LONGEST_REPLY {
                    return Err(Trouble::lasting(format!("the model's reply has more than {LONGEST_REPLY} bytes")));
                }
                let complete = reader.push(&text);
                if complete > edits {
                    edits = complete;
                    progress(format!("the model writes: {}", counted(edits)));
                }
            }
            Piece::Thought => {}
            Piece::Stop(why) => stop = Some(why),
            Piece::Usage { input_tokens, output_tokens } => usage = RunUsage { input_tokens, output_tokens },
        }
    }
    let Some(stop) = stop else { return Err(Trouble::passing("the model's reply was cut off")) };
    Ok(Said { stop, edits: reader.finish(), usage })
}

fn counted(edits: usize) -> String {
    if edits == 1 { "1 edit".to_owned() } else { format!("{edits} edits") }
}

/// Randomises the pause, so that clients that were refused at the same time do not retry at the same time.
fn jittered(pause: Duration) -> Duration {
    let mut random = [0; 4];
    // Without randomness the pause has its full length.
    let _ = getrandom::fill(&mut random);
    pause.mul_f64(0.75 + f64::from(u32::from_le_bytes(random)) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use futures::future::BoxFuture;

    use super::*;

    type Scripted = std::result::Result<Vec<std::result::Result<Piece, Trouble>>, Trouble>;

    /// A model that replays a script, one entry for each request.
    struct Script(Mutex<VecDeque<Scripted>>);

    impl Model for Script {
        fn default_name(&self) -> &str {
            "script"
        }

        fn check(&self) -> BoxFuture<'_, Result<()>> {
            Box::pin(async { Ok(()) })
        }

        fn reply<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, std::result::Result<Reply, Trouble>> {
            let next = self.0.lock().unwrap().pop_front();
            Box::pin(async move {
                match next {
                    Some(pieces) => Ok(futures::stream::iter(pieces?).boxed()),
                    // The stream never continues.
                    None => Ok(futures::stream::pending().boxed()),
                }
            })
        }
    }

    async fn say(script: Vec<Scripted>) -> (std::result::Result<Said, Trouble>, usize) {
        let model = Script(Mutex::new(script.into()));
        let question = Question { model: String::new(), system: String::new(), prompt: String::new() };
        let said = talk(&model, &question, |_| {}).await;
        let left = model.0.lock().unwrap().len();
        (said, left)
    }

    fn text(text: &str) -> std::result::Result<Piece, Trouble> {
        Ok(Piece::Text(text.to_owned()))
    }

    fn whole() -> Scripted {
        let usage = Piece::Usage { input_tokens: 7, output_tokens: 3 };
        Ok(vec![
            Ok(Piece::Thought),
            text("a.rs\n<<<<<<< SEARCH\nx\n====="),
            text("==\ny\n>>>>>>> REPLACE\n"),
            Ok(Piece::Stop(Stop::End)),
            Ok(usage),
        ])
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_asked_again_and_costs_nothing() {
        let throttled = || Err(Trouble::passing("throttled"));
        let cut = || Ok(vec![text("a.rs\n<<<<<<< SEARCH\n"), Err(Trouble::passing("cut"))]);
        let ended = || Ok(vec![text("a.rs\n")]);
        let (said, left) = say(vec![throttled(), cut(), ended(), whole()]).await;
        let said = said.unwrap();
        assert_eq!((said.stop, said.edits.unwrap().blocks.len(), left), (Stop::End, 1, 0));
        assert_eq!(said.usage, RunUsage { input_tokens: 7, output_tokens: 3 });
    }

    #[tokio::test(start_paused = true)]
    async fn what_lasts_is_reported_at_once() {
        let (said, left) = say(vec![Err(Trouble::lasting("no such model")), whole()]).await;
        assert_eq!((said.unwrap_err().detail.as_str(), left), ("no such model", 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_model_that_stays_silent_is_given_up() {
        let (said, _) = say(Vec::new()).await;
        let trouble = said.unwrap_err();
        assert!(trouble.detail.contains("said nothing for 120 s (asked 8 times)"), "{}", trouble.detail);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_after_the_end_is_not_needed() {
        let script = Ok(vec![text("Done.\n"), Ok(Piece::Stop(Stop::Length)), Err(Trouble::passing("cut"))]);
        let (said, _) = say(vec![script]).await;
        assert_eq!(said.unwrap().stop, Stop::Length);
    }
}
