// The server of bench/sdk_matrix.py by the Go SDK, on standard input and output:
//
//	cd bench/mcp/sdk/go && go mod init sdkserver && go mod tidy && go build -o /tmp/sdk-go .
package main

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type none struct{}

type numbers struct {
	A int `json:"a"`
	B int `json:"b"`
}

var cancels atomic.Int64

func text(words string) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: words}}}, nil, nil
}

func add(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, any, error) {
	return text(fmt.Sprint(in.A + in.B))
}

func progress(ctx context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	for done := 1; done <= 3; done++ {
		params := &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(done), Total: 3}
		if err := req.Session.NotifyProgress(ctx, params); err != nil {
			return nil, nil, err
		}
		time.Sleep(50 * time.Millisecond) // the TypeScript SDK drops what comes together with the result
	}
	return text("done")
}

func wait(ctx context.Context, _ *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	select {
	case <-ctx.Done():
		cancels.Add(1)
		return nil, nil, ctx.Err()
	case <-time.After(time.Minute):
		return text("waited")
	}
}

func countCancels(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
	return text(fmt.Sprint(cancels.Load()))
}

func askUser(ctx context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	schema := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}},
		"required": []string{"name"}}
	answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "What is your name?", RequestedSchema: schema})
	if err != nil {
		return nil, nil, err
	}
	return text(fmt.Sprintf("Hello, %v!", answer.Content["name"]))
}

func sample(ctx context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	question := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: "Say yes."}}
	answer, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 9, Messages: []*mcp.SamplingMessage{question}})
	if err != nil {
		return nil, nil, err
	}
	return text("The model says " + answer.Content.(*mcp.TextContent).Text)
}

func roots(ctx context.Context, req *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
	answer, err := req.Session.ListRoots(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	words := "roots:"
	for _, root := range answer.Roots {
		words += " " + root.URI
	}
	return text(words)
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds two numbers."}, add)
	mcp.AddTool(server, &mcp.Tool{Name: "progress", Description: "Reports progress three times."}, progress)
	mcp.AddTool(server, &mcp.Tool{Name: "wait", Description: "Waits until it is cancelled."}, wait)
	mcp.AddTool(server, &mcp.Tool{Name: "count_cancels", Description: "Counts the cancelled calls of wait."}, countCancels)
	mcp.AddTool(server, &mcp.Tool{Name: "ask_user", Description: "Asks the user for a name."}, askUser)
	mcp.AddTool(server, &mcp.Tool{Name: "sample", Description: "Asks the client's model."}, sample)
	mcp.AddTool(server, &mcp.Tool{Name: "roots", Description: "Lists the client's roots."}, roots)
	server.AddResource(&mcp.Resource{URI: "sdk://text", Name: "text"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			contents := &mcp.ResourceContents{URI: req.Params.URI, Text: "a text of the server"}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
		})
	server.AddPrompt(&mcp.Prompt{Name: "hello", Arguments: []*mcp.PromptArgument{{Name: "name", Required: true}}},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			words := fmt.Sprintf("Say hello to %s.", req.Params.Arguments["name"])
			message := &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: words}}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{message}}, nil
		})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}
