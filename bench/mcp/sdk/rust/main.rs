//! The server and a client of bench/sdk_matrix.py by the Rust SDK, the crate rmcp:
//!
//!     cargo init --name sdkmatrix DIR && cp bench/mcp/sdk/rust/main.rs DIR/src && cd DIR
//!     cargo add rmcp@3.11.0 -F server,client,transport-io,transport-child-process,elicitation
//!     cargo add tokio -F rt,macros,time,process && cargo add serde_json && cargo build
//!     sdkmatrix server | sdkmatrix legacy|auto|modern PROGRAM ARGUMENT...
#![allow(deprecated)] // sampling and roots
use rmcp::{
    handler::client::progress::ProgressDispatcher,
    model::*,
    service::{NotificationContext, RequestContext, RoleClient, RoleServer, RunningService},
    transport::{stdio, TokioChildProcess},
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, ServerHandler, ServiceExt,
};
use serde_json::{from_value, json, to_value, Value};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    sync::{Arc, Mutex},
    time::Duration,
};

// ---------------------------------------------------------------- the server

#[derive(Clone, Default)]
struct Server {
    cancels: Arc<AtomicUsize>,
}

const TOOLS: [&str; 7] = ["add", "progress", "wait", "count_cancels", "ask_user", "sample", "roots"];

fn text(words: String) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(words)]).into()
}

fn ask(request: InputRequest) -> CallToolResponse {
    let mut requests = InputRequests::new();
    requests.insert("q".to_string(), request);
    InputRequiredResult::new(Some(requests), None).into()
}

fn elicitation() -> ElicitRequestParams {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "What is your name?".into(),
        requested_schema: from_value(schema).unwrap(),
    }
}

fn sampling() -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user_text("Say yes.")], 9)
}

fn said(name: &str, answer: &Value) -> String {
    match name {
        "ask_user" => format!("Hello, {}!", answer["content"]["name"].as_str().unwrap_or("?")),
        "sample" => {
            let content = if answer["content"].is_array() { &answer["content"][0] } else { &answer["content"] };
            format!("The model says {}", content["text"].as_str().unwrap_or("?"))
        }
        _ => {
            let roots = answer["roots"].as_array().cloned().unwrap_or_default();
            let uris: Vec<_> = roots.iter().filter_map(|root| root["uri"].as_str()).collect();
            format!("roots: {}", uris.join(" "))
        }
    }
}

impl Server {
    /// Asks by a request of its own in the legacy era, and by the result in the modern one.
    async fn question(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        if let Some(responses) = &request.input_responses {
            return Ok(text(said(&name, &to_value(responses).unwrap()["q"])));
        }
        let pushed = match name.as_str() {
            "ask_user" => context.peer.create_elicitation(elicitation()).await.map(|answer| to_value(answer).unwrap()),
            "sample" => context.peer.create_message(sampling()).await.map(|answer| to_value(answer).unwrap()),
            _ => context.peer.list_roots().await.map(|answer| to_value(answer).unwrap()),
        };
        Ok(match (pushed, name.as_str()) {
            (Ok(answer), _) => text(said(&name, &answer)),
            (Err(_), "ask_user") => ask(InputRequest::Elicitation(ElicitRequest::new(elicitation()))),
            (Err(_), "sample") => ask(InputRequest::CreateMessage(CreateMessageRequest::new(sampling()))),
            (Err(_), _) => ask(InputRequest::ListRoots(ListRootsRequest::default())),
        })
    }

    async fn progress(&self, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let token = context.meta.get_progress_token().ok_or(ErrorData::invalid_params("no token", None))?;
        for done in 1..=3 {
            let params = ProgressNotificationParam::new(token.clone(), done as f64).with_total(3.0);
            let _ = context.peer.notify_progress(params).await;
            tokio::time::sleep(Duration::from_millis(50)).await; // a client drops what comes together with the result
        }
        Ok(text("done".into()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let numbers = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                             "required": ["a", "b"]});
        let tools: Vec<_> = TOOLS
            .iter()
            .map(|name| {
                let schema = if *name == "add" { numbers.clone() } else { json!({"type": "object"}) };
                json!({"name": name, "description": format!("The tool {name}."), "inputSchema": schema})
            })
            .collect();
        Ok(from_value(json!({ "tools": tools })).unwrap())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        match request.name.as_ref() {
            "add" => {
                let sum = arguments["a"].as_i64().unwrap_or(0) + arguments["b"].as_i64().unwrap_or(0);
                Ok(text(sum.to_string()))
            }
            "progress" => self.progress(context).await,
            "wait" => {
                tokio::select! {
                    _ = context.ct.cancelled() => {
                        self.cancels.fetch_add(1, Ordering::SeqCst);
                        Err(ErrorData::internal_error("cancelled", None))
                    }
                    _ = tokio::time::sleep(Duration::from_secs(60)) => Ok(text("waited".into())),
                }
            }
            "count_cancels" => Ok(text(self.cancels.load(Ordering::SeqCst).to_string())),
            _ => self.question(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(from_value(json!({"resources": [{"uri": "sdk://text", "name": "text"}]})).unwrap())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(vec![ResourceContents::text("a text of the server", request.uri)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = json!([{"name": "hello", "arguments": [{"name": "name", "required": true}]}]);
        Ok(from_value(json!({ "prompts": prompts })).unwrap())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = to_value(request.arguments.unwrap_or_default()).unwrap();
        let words = format!("Say hello to {}.", arguments["name"].as_str().unwrap_or("?"));
        let result: GetPromptResult =
            from_value(json!({"messages": [{"role": "user", "content": {"type": "text", "text": words}}]})).unwrap();
        Ok(result.into())
    }
}

// ---------------------------------------------------------------- a client, which reports as client.py does

#[derive(Clone)]
struct Client {
    progress: ProgressDispatcher,
    heard: Arc<Mutex<Vec<f64>>>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientInfo {
        let capabilities = from_value(json!({"sampling": {}, "roots": {}, "elicitation": {"form": {}}})).unwrap();
        ClientInfo::new(capabilities, Implementation::new("matrix", "1"))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("yes"), "none".into()))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///ada")]))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"name": "Ada"})))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.heard.lock().unwrap().push(params.progress);
        self.progress.handle_notification(params).await;
    }
}

type Running = RunningService<RoleClient, Client>;

async fn call(client: &Running, name: &'static str, arguments: Value) -> Result<String, String> {
    let mut params = CallToolRequestParams::new(name);
    params.arguments = arguments.as_object().cloned();
    let result = client.call_tool(params).await.map_err(|error| error.to_string())?;
    let value = to_value(result).unwrap();
    Ok(value["content"][0]["text"].as_str().unwrap_or("").to_string())
}

async fn check_cancel(client: &Running) -> Result<bool, String> {
    let before = call(client, "count_cancels", json!({})).await?;
    let waiting = call(client, "wait", json!({}));
    let _ = tokio::time::timeout(Duration::from_millis(500), waiting).await; // who drops a call cancels it
    for _ in 0..50 {
        if call(client, "count_cancels", json!({})).await? != before {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(false)
}

async fn check(client: &Running, heard: &Mutex<Vec<f64>>, feature: &str) -> Result<bool, String> {
    let failed = |error: rmcp::ServiceError| error.to_string();
    Ok(match feature {
        "tools" => {
            let listed = client.list_all_tools().await.map_err(failed)?;
            listed.iter().any(|tool| tool.name == "add") && call(client, "add", json!({"a": 2, "b": 3})).await? == "5"
        }
        "resources" => {
            let read = client.read_resource(ReadResourceRequestParams::new("sdk://text")).await.map_err(failed)?;
            to_value(read).unwrap()["contents"][0]["text"] == "a text of the server"
        }
        "prompts" => {
            let mut params = GetPromptRequestParams::new("hello");
            params.arguments = from_value(json!({"name": "Ada"})).unwrap();
            let got = client.get_prompt(params).await.map_err(failed)?;
            to_value(got).unwrap().to_string().contains("Say hello to Ada.")
        }
        "elicitation" => call(client, "ask_user", json!({})).await? == "Hello, Ada!",
        "sampling" => call(client, "sample", json!({})).await? == "The model says yes",
        "roots" => call(client, "roots", json!({})).await?.starts_with("roots: file:///ada"),
        "progress" => {
            heard.lock().unwrap().clear();
            call(client, "progress", json!({})).await?;
            *heard.lock().unwrap() == [1.0, 2.0, 3.0]
        }
        _ => check_cancel(client).await?,
    })
}

async fn run_client(mode: &str, program: &str, arguments: &[String]) {
    let mut command = tokio::process::Command::new(program);
    command.args(arguments);
    let modern = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match mode {
        "legacy" => ClientLifecycleMode::Initialize,
        "modern" => ClientLifecycleMode::Discover { preferred_versions: modern },
        _ => ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None },
    };
    let client = Client { progress: ProgressDispatcher::new(), heard: Default::default() };
    let heard = client.heard.clone();
    let running = client.serve_with_lifecycle(TokioChildProcess::new(command).unwrap(), lifecycle).await.unwrap();
    let mut report = serde_json::Map::new();
    for feature in ["tools", "resources", "prompts", "elicitation", "sampling", "roots", "progress", "cancel"] {
        let works = check(&running, &heard, feature).await;
        if let Err(error) = &works {
            eprintln!("{feature}: {error}");
        }
        report.insert(feature.into(), Value::Bool(works.unwrap_or(false)));
    }
    let _ = running.cancel().await;
    println!("{}", Value::Object(report));
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments[0] == "server" {
        let service = Server::default().serve(stdio()).await.unwrap();
        let _ = service.waiting().await;
    } else {
        run_client(&arguments[0], &arguments[1], &arguments[2..]).await;
    }
}
