package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"
)

// Any input: a frame is read or rejected, and a message is answered, without a panic that ends the program. `go test
// -fuzz FuzzMessages -fuzztime 10m .` runs longer.
func FuzzMessages(f *testing.F) {
	for _, body := range []string{
		`{"id":1,"method":"checker/settle"}`,
		`{"method":"checker/feed","params":{"edits":[{"file":"a.go","content":"package a"}]}}`,
		`{"id":2,"method":"checker/uses","params":{"symbols":[{"file":"a.go","at":3,"name":"A","files":["a.go"]}]}}`,
		`{"id":3,"method":"checker/impact","params":{"edits":[]}}`,
		`{"id":4,"method":"checker/load","params":{"root":"/nowhere","folders":[]}}`,
	} {
		f.Add([]byte("Content-Length: 2\r\n\r\n" + body))
		var framed bytes.Buffer
		out := bufio.NewWriter(&framed)
		if err := writeFrame(out, reply{Version: "2.0", Result: json.RawMessage(body)}); err != nil {
			f.Fatal(err)
		}
		f.Add(framed.Bytes())
	}
	f.Add([]byte("Content-Length: 9223372036854775807\r\n\r\n{}"))
	f.Add([]byte("content-length:-1\n\n{}"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		in := bufio.NewReader(bytes.NewReader(stream))
		for {
			body, err := readFrame(in)
			if err != nil {
				break
			}
			if len(body) > len(stream) {
				t.Fatalf("%d bytes of %d", len(body), len(stream))
			}
		}
		var received message
		if at := bytes.IndexByte(stream, '{'); at < 0 || json.Unmarshal(stream[at:], &received) != nil {
			return
		}
		// Loading runs the go command.
		if received.Method != "checker/load" {
			_, _ = (&server{}).handle(received)
		}
	})
}
