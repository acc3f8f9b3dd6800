// Finds tools with a running `whichtool serve`: go run . URL REQUEST
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

type hit struct {
	ID          string
	Probability float64
}

func find(url, query string, k int) ([]hit, error) {
	body, _ := json.Marshal(map[string]any{"query": query, "k": k})
	answer, err := http.Post(url+"/v1/find", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var found struct {
		Hits  []hit
		Error struct{ Message string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil || answer.StatusCode != 200 {
		return nil, fmt.Errorf("%s: %s %v", answer.Status, found.Error.Message, err)
	}
	return found.Hits, nil
}

func main() {
	hits, err := find(os.Args[1], os.Args[2], 3)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, hit := range hits {
		fmt.Printf("%.2f %s\n", hit.Probability, hit.ID)
	}
}
