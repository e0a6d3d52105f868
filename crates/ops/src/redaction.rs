//! What is never shown to a model: files with names of secrets, ignored files, and secrets in other texts.

use std::borrow::Cow;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use semdex_engine::files::Files;
use semdex_model::Languages;

/// The replacement for a secret.
pub(crate) const REDACTED: &str = "[redacted]";

/// File extensions of keys and key stores.
const KEY_ENDINGS: &[&str] = &[
    "pem",
    "key",
    "p8",
    "p12",
    "pfx",
    "jks",
    "keystore",
    "kdbx",
    "asc",
    "gpg",
    "ppk",
    "ovpn",
    "kubeconfig",
    "tfvars",
    "tfstate",
    "cer",
    "der",
    "crt",
];
/// Whole file names in lower case.
const SECRET_NAMES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".pgpass",
    ".my.cnf",
    ".dockercfg",
    ".envrc",
    ".s3cfg",
    ".boto",
    "credentials",
    "kubeconfig",
    "master.key",
    "authorized_keys",
    "known_hosts",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "shadow",
    "wallet.dat",
];
/// Directories that contain only secrets, in lower case.
const SECRET_DIRECTORIES: &[&str] = &[".ssh", ".aws", ".gnupg", ".kube", ".azure", ".gcloud", ".docker"];
/// Words in the name of a file without code that make it a secret.
const SECRET_WORDS: &[&str] =
    &["secret", "secrets", "credential", "credentials", "token", "tokens", "password", "passwords", "passwd", "apikey"];

/// Pairs of such words.
const SECRET_PAIRS: &[(&str, &str)] =
    &[("api", "key"), ("api", "keys"), ("private", "key"), ("private", "keys"), ("service", "account")];

/// Decides which files of a workspace are visible.
#[derive(Debug)]
pub struct Secrets {
    /// The ignore files with their directories, the outermost first.
    ignored: Vec<(String, Gitignore)>,
}

impl Secrets {
    /// Uses the `.gitignore` files among the texts, and all further sources of git's ignore rules.
    pub fn new(files: &Files, root: &Path) -> Secrets {
        let mut ignored = Vec::new();
        let exclude = std::fs::read_to_string(root.join(".git/info/exclude")).unwrap_or_default();
        let (global, _) = Gitignore::global();
        ignored.push((String::new(), global));
        ignored.extend(rules("", &exclude));
        for file in files.iter() {
            let (directory, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            if name == ".gitignore" {
                ignored.extend(rules(directory, &file.text));
            }
        }
        // The innermost rule wins.
        ignored.sort_by_key(|(directory, _)| directory.len());
        Secrets { ignored }
    }

    /// Whether a file is hidden, because it is a secret or ignored. `is_code`: whether its language is known.
    pub fn hides(&self, file: &str, is_code: bool) -> bool {
        is_secret_name(file, is_code) || self.is_ignored(file)
    }

    fn is_ignored(&self, file: &str) -> bool {
        // Nothing below an ignored directory can be included again.
        let parents = file.match_indices('/').filter_map(|(at, _)| file.get(..at));
        parents.map(|it| (it, true)).chain([(file, false)]).any(|(path, is_dir)| self.matches(path, is_dir))
    }

    fn matches(&self, path: &str, is_dir: bool) -> bool {
        let mut ignored = false;
        for (directory, rules) in &self.ignored {
            let inside = if directory.is_empty() {
                Some(path)
            } else {
                path.strip_prefix(directory.as_str()).and_then(|it| it.strip_prefix('/'))
            };
            match inside.map(|it| rules.matched(it, is_dir)) {
                Some(Match::Ignore(_)) => ignored = true,
                Some(Match::Whitelist(_)) => ignored = false,
                Some(Match::None) | None => {}
            }
        }
        ignored
    }
}

/// Whether a file is code and not configuration.
pub fn is_code(languages: &Languages, file: &str) -> bool {
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_configuration = matches!(ending, "toml" | "yaml" | "yml" | "json" | "jsonc" | "xml" | "ini" | "conf" | "tf");
    !is_configuration && languages.of(file).is_some()
}

fn rules(directory: &str, text: &str) -> Option<(String, Gitignore)> {
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        // An invalid pattern has no effect.
        let _ = builder.add_line(None, line);
    }
    Some((directory.to_owned(), builder.build().ok()?))
}

/// Whether a file with such a name holds secrets.
pub(crate) fn is_secret_name(file: &str, is_code: bool) -> bool {
    let lower = file.to_ascii_lowercase();
    let mut parts = lower.rsplit('/');
    let name = parts.next().unwrap_or_default();
    if parts.any(|it| SECRET_DIRECTORIES.contains(&it)) || SECRET_NAMES.contains(&name) {
        return true;
    }
    if name == ".env"
        || name.starts_with(".env.")
        || name.starts_with(".env-")
        || name.starts_with(".env_")
        || name.ends_with(".env")
    {
        return true;
    }
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    if KEY_ENDINGS.contains(&ending) || name.starts_with("id_rsa") || name.starts_with("id_ed25519") {
        return true;
    }
    let words = || stem.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let has_pair = |(first, second): &(&str, &str)| words().zip(words().skip(1)).any(|it| it == (*first, *second));
    let is_prose = matches!(ending, "md" | "rst" | "adoc");
    !is_code && !is_prose && (words().any(|it| SECRET_WORDS.contains(&it)) || SECRET_PAIRS.iter().any(has_pair))
}

/// A text with its secrets replaced: armoured keys, tokens of a known form, passwords in URLs, and values of names that
/// denote secrets. `is_code`: in code, most values of names such as `token` are not secrets.
pub fn redact(text: &str, is_code: bool) -> String {
    let text = without_armour(text);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match without_password(line) {
            Some(line) => redact_line(&line, is_code, &mut out),
            None => redact_line(line, is_code, &mut out),
        }
    }
    out
}

/// Replaces `-----BEGIN … PRIVATE KEY-----` up to its end, or to the end of the text.
fn without_armour(text: &str) -> Cow<'_, str> {
    let is_of_key = |line: &str, word: &str| line.contains(word) && line.contains("PRIVATE KEY");
    if !is_of_key(text, "-----BEGIN ") {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let (begins, ends) = (is_of_key(line, "-----BEGIN "), is_of_key(line, "-----END "));
        if begins && !inside {
            let before = line.split("-----BEGIN ").next().unwrap_or_default();
            out.extend([before, REDACTED, "\n"]);
            inside = !ends;
        } else if inside {
            inside = !ends;
        } else {
            out.push_str(line);
        }
    }
    out.into()
}

/// Replaces the password in `scheme://user:password@host`.
fn without_password(line: &str) -> Option<String> {
    let (before, after) = line.split_once("://")?;
    let end = after.find(|it: char| it.is_whitespace() || "\"'`/<>".contains(it)).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    let (user, host) = authority.rsplit_once('@')?;
    let (user, password) = user.split_once(':')?;
    let is_plain = !password.is_empty() && !password.starts_with(['$', '{', '<']);
    is_plain.then(|| format!("{before}://{user}:{REDACTED}@{host}{rest}"))
}

fn redact_line(line: &str, is_code: bool, out: &mut String) {
    let begun = out.len();
    let mut rest = line;
    // Words of the characters that occur in tokens.
    while let Some(start) = rest.find(is_token_letter) {
        let (before, tail) = rest.split_at(start);
        let (word, tail) = tail.split_at(tail.find(|it| !is_token_letter(it)).unwrap_or(tail.len()));
        out.push_str(before);
        let so_far = out.get(begun..).unwrap_or_default();
        if is_token(word) {
            out.push_str(REDACTED);
        } else if let Some((name, value)) = word.split_once('=')
            && is_secret_word(name)
            && is_secret_value(value, tail.starts_with('"'), is_code)
        {
            out.extend([name, "=", REDACTED]);
        } else if is_given_to_secret(so_far, word, tail, is_code) {
            out.push_str(REDACTED);
        } else {
            out.push_str(word);
        }
        rest = tail;
    }
    out.push_str(rest);
}

fn is_token_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-./+=~!@#%^&*$".contains(letter)
}

/// Whether a word has the form of a known token.
fn is_token(word: &str) -> bool {
    word.split(['=', '@', '&', '/', '*', '#', '!', '$', '%', '^']).any(|it| {
        let is_known = |(prefix, length): &(&str, usize)| {
            let rest = it.strip_prefix(prefix).unwrap_or_default();
            it.len() >= *length && has_digit_and_letter(rest)
        };
        TOKENS.iter().any(is_known) || is_aws_key(it) || is_web_token(it)
    })
}

/// Prefixes of tokens, and their minimum lengths.
const TOKENS: &[(&str, usize)] = &[
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxa-", 20),
    ("xoxr-", 20),
    ("xoxs-", 20),
    ("xapp-", 20),
    ("AIza", 35),
    ("ya29.", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("SG.", 30),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("sk_test_", 16),
    ("sk-", 20),
    ("hf_", 30),
    ("dop_v1_", 30),
    ("shpat_", 30),
    ("AGE-SECRET-KEY-", 30),
    ("hvs.", 20),
    ("dckr_pat_", 20),
    ("lin_api_", 20),
];

fn is_aws_key(word: &str) -> bool {
    let starts = ["AKIA", "ASIA"].iter().any(|it| word.starts_with(it));
    starts && word.len() == 20 && word.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
}

/// Whether a word is a JSON Web Token.
fn is_web_token(word: &str) -> bool {
    let mut parts = word.split('.');
    let is_object = |it: Option<&str>| it.is_some_and(|it| it.len() >= 10 && it.starts_with("eyJ"));
    is_object(parts.next()) && is_object(parts.next()) && parts.next().is_some_and(|it| it.len() >= 10)
}

/// Replaces values such as `api_key = "…"`, `"password": "…"` and `Authorization: Bearer …`.
fn is_given_to_secret(before: &str, word: &str, after: &str, is_code: bool) -> bool {
    let quote = before.chars().next_back().filter(|it| matches!(it, '"' | '\'' | '`'));
    let is_quoted = quote.is_some_and(|it| after.starts_with(it));
    let head = before.trim_end_matches(['"', '\'', '`']).trim_end();
    if head.ends_with("Bearer") {
        return is_secret_value(word, true, is_code);
    }
    let Some(head) = head.strip_suffix([':', '=']).or_else(|| head.strip_suffix("=>")) else { return false };
    // A type may be between the name and the value.
    let name = head.rsplit(['{', ',', ';', '(']).next().unwrap_or_default();
    is_secret_word(name) && is_secret_value(word, is_quoted, is_code)
}

/// Whether a name denotes a secret.
fn is_secret_word(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "secret",
        "token",
        "password",
        "passwd",
        "passphrase",
        "api_key",
        "apikey",
        "access_key",
        "accesskey",
        "private_key",
        "privatekey",
        "auth_key",
        "credential",
        "encryption_key",
        "signing_key",
        "account_key",
    ];
    let name = name.to_ascii_lowercase().replace('-', "_");
    NAMES.iter().any(|it| name.contains(it))
}

/// Whether a value may be a secret. In code: a long text of digits and letters that is not a word, a path or a name.
/// Elsewhere: anything that is not a number, a version or a reference.
fn is_secret_value(value: &str, is_quoted: bool, is_code: bool) -> bool {
    let value = value.trim_matches(['"', '\'', '.', ',']);
    if value.starts_with(['$', '#', '*', '&', '@', '=']) || value.contains("://") {
        return false;
    }
    if is_code {
        return value.len() >= if is_quoted { 8 } else { 20 } && has_digit_and_letter(value) && !value.contains('.');
    }
    let is_version = value.bytes().all(|it| it.is_ascii_digit() || b".^~=-+".contains(&it));
    let is_word = matches!(value.to_ascii_lowercase().as_str(), "true" | "false" | "null" | "none" | "string");
    value.len() >= 6 && !is_version && !is_word
}

fn has_digit_and_letter(text: &str) -> bool {
    text.bytes().any(|it| it.is_ascii_digit()) && text.bytes().any(|it| it.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        for file in [
            ".env",
            "deploy/.env.production",
            "prod.env",
            "certs/server.pem",
            "id_rsa",
            "home/.ssh/config",
            ".aws/credentials",
            "config/secrets.yaml",
            "api_keys.txt",
            "terraform.tfvars",
            ".npmrc",
            "service-account.json",
        ] {
            assert!(is_secret_name(file, false), "{file}");
        }
        for file in ["src/token.rs", "src/secrets/mod.rs", "lexer/tokens.go"] {
            assert!(!is_secret_name(file, true), "{file}");
        }
        for file in ["docs/tokens.md", "environment.toml", "src/main.rs", "Cargo.toml", "keys.md", "monkey.txt"] {
            assert!(!is_secret_name(file, false), "{file}");
        }
    }

    #[test]
    fn ignored_files_are_hidden() {
        let mut files = Files::new(Languages::default());
        for (name, text) in [
            (".gitignore", "/build/\n*.log\n!keep.log\n# all\n"),
            ("sub/.gitignore", "local.*\n"),
            ("sub/local.toml", ""),
        ] {
            files.insert(Arc::new(files.file(name, text)));
        }
        let secrets = Secrets::new(&files, Path::new("/nonexistent"));
        for file in ["build/a/b.rs", "x/y.log", "sub/local.toml", "sub/deep/local.rs"] {
            assert!(secrets.hides(file, true), "{file}");
        }
        for file in ["src/build/a.rs", "keep.log", "local.toml", "src/main.rs", "builder.rs"] {
            assert!(!secrets.hides(file, true), "{file}");
        }
    }

    fn hidden(text: &str, secret: &str, is_code: bool) {
        let shown = redact(text, is_code);
        assert!(!shown.contains(secret) && shown.contains(REDACTED), "{text} is shown as {shown}");
    }

    #[test]
    fn secrets_are_known_by_their_form() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc\n-----END RSA PRIVATE KEY-----\nafter\n";
        hidden(key, "MIIE", true);
        assert_eq!(redact(key, true), "[redacted]\nafter\n");
        hidden("const K: &str = \"AKIAIOSFODNN7EXAMPLE\";", "AKIA", true);
        hidden("// ghp_16C7e42F292c6912E7710c838347Ae178B4a", "ghp_", true);
        hidden("url = postgres://me:hunter2@db/x", "hunter2", false);
        hidden("let api_key = \"f3a9c01b7d\";", "f3a9c01b7d", true);
        hidden("{\"client_secret\": \"correcthorse\"}", "correcthorse", false);
        hidden("DB_PASSWORD=hunter2hunter2", "hunter2", false);
        hidden("curl -H 'Authorization: Bearer abcdef1234567890'", "abcdef1234567890", true);
        hidden("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "dozj", true);
    }

    #[test]
    fn code_about_secrets_is_none() {
        for text in [
            "let token = lexer.next_token();\n",
            "pub fn password(&self) -> &str { &self.password }\n",
            "let token: Token = Token::Identifier;\n",
            "assert_eq!(token, \"identifier\");\n",
            "tokenizers = \"0.20.1\"\n",
            "max_tokens: 2000,\n",
            "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n",
            "let sk-based = 1;\n",
            "https://example.com/a@b\n",
        ] {
            assert_eq!(redact(text, true), text);
        }
        assert_eq!(
            redact("tokenizers = \"0.20.1\"\nmax_tokens = 12000\n", false),
            "tokenizers = \"0.20.1\"\nmax_tokens = 12000\n"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_brings_it_down(text in "[a-zA-Z0-9 =:\"'@/ß\n-]{0,60}") {
            let _ = redact(&text, true);
            let _ = redact(&text, false);
        }
    }
}
