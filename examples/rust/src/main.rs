//! Finds tools with a running `whichtool serve`: cargo run -- URL REQUEST
use serde_json::{json, Value};

fn find(url: &str, query: &str, k: u32) -> Result<Vec<Value>, ureq::Error> {
    let mut answer = ureq::post(format!("{url}/v1/find")).send_json(json!({"query": query, "k": k}))?;
    let found: Value = answer.body_mut().read_json()?;
    Ok(found["hits"].as_array().cloned().unwrap_or_default())
}

fn main() -> Result<(), ureq::Error> {
    let words: Vec<String> = std::env::args().collect();
    for hit in find(&words[1], &words[2], 3)? {
        println!("{:.2} {}", hit["probability"].as_f64().unwrap_or(0.0), hit["id"].as_str().unwrap_or(""));
    }
    Ok(())
}
