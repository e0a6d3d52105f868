// load -- how many GETs of one path a server answers in a second, over connections that are kept:
//
//	load -address 127.0.0.1:7878 -path /healthz -connections 16 -seconds 2 [-token TOKEN]
//
// Each connection has one request in flight. Prints one line of JSON; ends with 1 where an answer is not 200.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

func main() {
	address := flag.String("address", "127.0.0.1:7878", "")
	path := flag.String("path", "/healthz", "")
	token := flag.String("token", "", "")
	connections := flag.Int("connections", 16, "")
	seconds := flag.Float64("seconds", 2, "")
	flag.Parse()
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n", *path, *address)
	if *token != "" {
		request += "Authorization: Bearer " + *token + "\r\n"
	}
	request += "\r\n"
	var (
		all     sync.WaitGroup
		lock    sync.Mutex
		took    []time.Duration
		failure error
	)
	begun := time.Now()
	end := begun.Add(time.Duration(*seconds * float64(time.Second)))
	for range *connections {
		all.Add(1)
		go func() {
			defer all.Done()
			own, err := ask(*address, []byte(request), end)
			lock.Lock()
			defer lock.Unlock()
			took = append(took, own...)
			if err != nil {
				failure = err
			}
		}()
	}
	all.Wait()
	if failure != nil || len(took) == 0 {
		fmt.Fprintln(os.Stderr, "load:", failure)
		os.Exit(1)
	}
	elapsed := time.Since(begun).Seconds()
	slices.Sort(took)
	at := func(part float64) float64 { return float64(took[int(part*float64(len(took)-1))].Microseconds()) / 1000 }
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"requests": len(took), "per_second": float64(len(took)) / elapsed, "p50_ms": at(0.5), "p99_ms": at(0.99),
	})
}

// ask sends one request after the other until the end, and answers how long each took.
func ask(address string, request []byte, end time.Time) ([]time.Duration, error) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	reader := bufio.NewReaderSize(connection, 1<<16)
	var took []time.Duration
	for {
		begun := time.Now()
		if begun.After(end) {
			return took, nil
		}
		if _, err := connection.Write(request); err != nil {
			return took, err
		}
		if err := read(reader); err != nil {
			return took, err
		}
		took = append(took, time.Since(begun))
	}
}

// read takes one answer from the connection.
func read(reader *bufio.Reader) error {
	length, first := 0, true
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if first && !bytes.Contains(line, []byte(" 200 ")) {
			return fmt.Errorf("an answer begins with %q", line)
		}
		first = false
		if len(line) == 0 {
			_, err := io.CopyN(io.Discard, reader, int64(length))
			return err
		}
		if name, value, found := bytes.Cut(line, []byte(":")); found && bytes.EqualFold(name, []byte("content-length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
}
