// Says of each file that it is given whether go/build takes it.
package main

import (
	"encoding/json"
	"go/build"
	"io"
	"os"
	"strings"
)

type file struct {
	Name, Text string
	Tags       []string
	Cgo        bool
}

func main() {
	asked, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var it file
		if err := asked.Decode(&it); err != nil {
			return
		}
		context := build.Default
		context.GOOS, context.GOARCH, context.Compiler = "linux", "amd64", "gc"
		context.CgoEnabled, context.BuildTags, context.ToolTags = it.Cgo, it.Tags, nil
		context.OpenFile = func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(it.Text)), nil
		}
		takes, err := context.MatchFile("", it.Name)
		if answers.Encode(takes && err == nil) != nil {
			return
		}
	}
}
