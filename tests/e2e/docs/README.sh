# Prepares the commands of README.md: small catalogues of three services, the samples, a log and a conversation. Uses the
# built-in encoder, so that training takes seconds.
export WHICHTOOL_MANIFESTS=$PWD/none
whichtool -q add --provider github "$stand_ins/github.json"
whichtool -q add --provider slack-web "$stand_ins/slack.json"
whichtool -q add --provider kubernetes "$stand_ins/kubernetes.json"
whichtool -q add samples/catalogue
cp samples/usages.jsonl log.jsonl
echo '[{"role": "user", "content": "Get issue 42 of our repository on GitHub."},
       {"role": "assistant", "content": "It is open.", "tool_calls": [{"id": "c1", "type": "function",
        "function": {"name": "github__issues_get", "arguments": "{}"}}]},
       {"role": "tool", "tool_call_id": "c1", "content": "{}"},
       {"role": "user", "content": "and now close it"}]' >chat.json
