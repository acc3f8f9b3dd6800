// A client of bench/sdk_matrix.py by the Go SDK, 1.8 and later; it reports as client.py does:
//
//	cd bench/mcp/sdk/go && go mod init sdkserver && go mod tidy && go build -o /tmp/sdk-go-client ./client
//	sdk-go-client PROGRAM ARGUMENT...
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type matrix struct {
	session *mcp.ClientSession
	heard   chan float64
}

func (m *matrix) call(ctx context.Context, name string, arguments map[string]any) (string, error) {
	if arguments == nil {
		arguments = map[string]any{} // a nil map would be sent as null
	}
	params := &mcp.CallToolParams{Name: name, Arguments: arguments}
	params.SetProgressToken(name)
	result, err := m.session.CallTool(ctx, params)
	if err != nil {
		return "", err
	}
	if len(result.Content) == 0 {
		return "", fmt.Errorf("%s: no content", name)
	}
	text, _ := result.Content[0].(*mcp.TextContent)
	return text.Text, nil
}

func (m *matrix) says(name string, arguments map[string]any, wanted string) (bool, error) {
	text, err := m.call(context.Background(), name, arguments)
	if err == nil && !strings.HasPrefix(text, wanted) {
		err = fmt.Errorf("%q", text)
	}
	return err == nil, err
}

func (m *matrix) tools() (bool, error) {
	listed, err := m.session.ListTools(context.Background(), nil)
	if err != nil {
		return false, err
	}
	for _, tool := range listed.Tools {
		if tool.Name == "add" {
			return m.says("add", map[string]any{"a": 2, "b": 3}, "5")
		}
	}
	return false, nil
}

func (m *matrix) resources() (bool, error) {
	read, err := m.session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "sdk://text"})
	return err == nil && read.Contents[0].Text == "a text of the server", err
}

func (m *matrix) prompts() (bool, error) {
	params := &mcp.GetPromptParams{Name: "hello", Arguments: map[string]string{"name": "Ada"}}
	got, err := m.session.GetPrompt(context.Background(), params)
	if err != nil {
		return false, err
	}
	text, _ := json.Marshal(got.Messages)
	return strings.Contains(string(text), "Say hello to Ada."), nil
}

func (m *matrix) progress() (bool, error) {
	for len(m.heard) > 0 {
		<-m.heard
	}
	if _, err := m.call(context.Background(), "progress", nil); err != nil {
		return false, err
	}
	var heard []float64
	for len(heard) < 3 {
		select {
		case done := <-m.heard:
			heard = append(heard, done)
		case <-time.After(5 * time.Second):
			return false, fmt.Errorf("heard %v", heard)
		}
	}
	return reflect.DeepEqual(heard, []float64{1, 2, 3}), nil
}

func (m *matrix) cancel() (bool, error) {
	before, err := m.call(context.Background(), "count_cancels", nil)
	if err != nil {
		return false, err
	}
	ctx, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	m.call(ctx, "wait", nil)
	for i := 0; i < 50; i++ {
		if now, err := m.call(context.Background(), "count_cancels", nil); err != nil || now != before {
			return err == nil, err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false, nil
}

func main() {
	m := &matrix{heard: make(chan float64, 64)}
	client := mcp.NewClient(&mcp.Implementation{Name: "matrix", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "none", Content: &mcp.TextContent{Text: "yes"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			m.heard <- req.Params.Progress
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///ada"})
	transport := &mcp.CommandTransport{Command: exec.Command(os.Args[1], os.Args[2:]...)}
	session, err := client.Connect(context.Background(), transport, nil)
	if err != nil {
		log.Fatal(err)
	}
	m.session = session
	checks := map[string]func() (bool, error){
		"tools": m.tools, "resources": m.resources, "prompts": m.prompts, "progress": m.progress, "cancel": m.cancel,
		"elicitation": func() (bool, error) { return m.says("ask_user", nil, "Hello, Ada!") },
		"sampling":    func() (bool, error) { return m.says("sample", nil, "The model says yes") },
		"roots":       func() (bool, error) { return m.says("roots", nil, "roots: file:///ada") },
	}
	report := map[string]bool{}
	for name, check := range checks {
		works, err := check()
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		}
		report[name] = works
	}
	session.Close()
	json.NewEncoder(os.Stdout).Encode(report)
}
