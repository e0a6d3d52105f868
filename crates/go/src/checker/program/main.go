// Command checker keeps a workspace's Go packages parsed and type-checked in memory, and computes what an edit would
// break. It returns the errors before and after the edit, the references to changed declarations, and the tests that
// reach the change. It speaks JSON-RPC on its standard streams, framed as in LSP, and ends with its input.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

type message struct {
	ID     *json.RawMessage `json:"id,omitempty"`
	Method string           `json:"method,omitempty"`
	Params json.RawMessage  `json:"params,omitempty"`
}

type reply struct {
	Version string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id"`
	Result  any              `json:"result,omitempty"`
	Error   *failure         `json:"error,omitempty"`
}

// Far above the size of a workspace: its texts may have 1 GiB.
const maxFrame = 4 << 30

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func main() {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriter(os.Stdout)
	// Most of an answer's memory is garbage at its end and is collected between answers.
	debug.SetGCPercent(400)
	adaptLimit()
	server := &server{}
	for {
		body, err := readFrame(in)
		if err != nil {
			return
		}
		var received message
		if json.Unmarshal(body, &received) != nil {
			return
		}
		result, err := server.handle(received)
		if received.ID == nil {
			continue
		}
		answer := reply{Version: "2.0", ID: received.ID, Result: result}
		if err != nil {
			answer.Result, answer.Error = nil, &failure{-32603, err.Error()}
		}
		if writeFrame(out, answer) != nil {
			return
		}
	}
}

// A panic while handling a message fails that message. The loaded data is then no longer used.
func (s *server) handle(received message) (result any, err error) {
	defer func() {
		if it := recover(); it != nil {
			s.worlds, s.unfit = nil, "the checker stumbled"
			result, err = nil, fmt.Errorf("the checker stumbled: %v\n%s", it, debug.Stack())
		}
	}()
	switch received.Method {
	case "checker/load":
		return call(received.Params, s.load)
	case "checker/feed":
		return call(received.Params, s.feed)
	case "checker/settle":
		return call(received.Params, s.settle)
	case "checker/uses":
		return call(received.Params, s.uses)
	case "checker/renamed":
		return call(received.Params, s.renamed)
	case "checker/impact":
		return call(received.Params, s.impact)
	}
	return nil, nil
}

func call[P, R any](params json.RawMessage, function func(P) (R, error)) (any, error) {
	var read P
	if err := json.Unmarshal(params, &read); err != nil {
		return nil, err
	}
	return function(read)
}

func readFrame(in *bufio.Reader) ([]byte, error) {
	length := -1
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, err
			}
		}
	}
	if length < 0 || length > maxFrame {
		return nil, io.ErrUnexpectedEOF
	}
	// Grows with the received bytes: the length alone allocates nothing.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, in, int64(length)); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

func writeFrame(out *bufio.Writer, answer reply) error {
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Content-Length: %d\r\n\r\n", len(body))
	_, _ = out.Write(body)
	return out.Flush()
}
