//! The protocol of test/libraries/bot-process.ts for bots in Rust.
use std::future::Future;
use std::io::{BufRead, Write};

use axum::extract::{Json, State};
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc::UnboundedSender;

#[derive(Deserialize)]
pub struct Start {
    pub address: String,
    pub key: String,
    pub allowed_updates: Vec<String>,
    pub webhook: Option<Webhook>,
}

#[derive(Clone, Deserialize)]
pub struct Webhook {
    pub port: u16,
    pub path: String,
    pub url: String,
    pub secret: String,
}

/// Why a call has no result.
pub enum Failure {
    Absent(String),
    Refused(Option<u64>, String),
    Failed(String),
}

pub fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

pub fn say(line: &Value) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}").unwrap();
    output.flush().unwrap();
}

fn read() -> Option<Value> {
    let mut line = String::new();
    let count = std::io::stdin().lock().read_line(&mut line).ok()?;
    if count == 0 {
        return None;
    }
    serde_json::from_str(&line).ok()
}

pub fn started() -> Start {
    let mut first = read().expect("a first line");
    serde_json::from_value(first["start"].take()).expect("a start")
}

/// Files as `{"path"}` instead of `{"upload", "name"}`.
pub fn with_paths(value: &mut Value) {
    match value {
        Value::Object(members) => match members.remove("upload") {
            Some(path) => *value = json!({ "path": path }),
            None => members.values_mut().for_each(with_paths),
        },
        Value::Array(items) => items.iter_mut().for_each(with_paths),
        _ => {}
    }
}

pub fn sum_of(bytes: &[u8]) -> Value {
    let sum = Sha256::digest(bytes);
    let text: String = sum.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "size": bytes.len(), "sha256": text })
}

/// The version of a package that this program is made of.
pub fn version_of(package: &str) -> &'static str {
    let name = format!("name = \"{package}\"\nversion = \"");
    let (_, rest) = include_str!("../Cargo.lock").split_once(&name).unwrap_or(("", "unknown"));
    rest.split('"').next().unwrap_or(rest)
}

/// Answers commands until it is told to stop. `ask` gets the method with its parameters, or `download` with a file's id.
pub async fn serve<Answer>(version: &str, ask: impl Fn(String, Value) -> Answer)
where
    Answer: Future<Output = Result<Value, Failure>> + Send + 'static,
{
    say(&json!({ "ready": { "version": version } }));
    while let Some(mut command) = tokio::task::spawn_blocking(read).await.unwrap() {
        if command.get("stop").is_some() {
            break;
        }
        let id = command["id"].clone();
        let answer = match command.get("call").and_then(Value::as_str).map(String::from) {
            Some(method) => ask(method, command["parameters"].take()),
            None => ask("download".into(), command["download"].take()),
        };
        tokio::spawn(async move {
            say(&match answer.await {
                Ok(result) => json!({ "id": id, "result": result }),
                Err(Failure::Absent(reason)) => json!({ "id": id, "absent": reason }),
                Err(Failure::Refused(code, description)) => {
                    json!({ "id": id, "refused": { "code": code, "description": description } })
                }
                Err(Failure::Failed(reason)) => json!({ "id": id, "failed": reason }),
            });
        });
    }
    std::process::exit(0);
}

/// A webhook for libraries that have none of their own: passes bodies on.
pub async fn listen(hook: &Webhook, updates: UnboundedSender<Value>) {
    type Hook = (String, UnboundedSender<Value>);
    async fn take(State((secret, updates)): State<Hook>, headers: HeaderMap, Json(body): Json<Value>) -> StatusCode {
        let given = headers.get("x-telegram-bot-api-secret-token");
        if given.is_none_or(|given| given != secret.as_str()) {
            return StatusCode::UNAUTHORIZED;
        }
        updates.send(body).unwrap();
        StatusCode::OK
    }
    let app = axum::Router::new()
        .route(&hook.path, axum::routing::post(take))
        .with_state((hook.secret.clone(), updates));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", hook.port)).await.unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
}
