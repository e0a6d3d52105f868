// load -- how many GETs of one path a server answers in a second, over connections that are kept:
//
//	load -address 127.0.0.1:7878 -path /healthz -connections 16 -seconds 2 [-token TOKEN]
//
// Each connection has one request in flight. With -other the two servers are asked in turn for -slice milliseconds each, which of them first
// changing each time; what else the machine does meets both alike, and "ratio" is the median of the ratios of their requests a second, "error"
// its standard error. Prints one line of JSON; ends with 1 where an answer is not 200.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

func main() {
	address := flag.String("address", "127.0.0.1:7878", "")
	other := flag.String("other", "", "")
	path := flag.String("path", "/healthz", "")
	token := flag.String("token", "", "")
	otherToken := flag.String("other-token", "", "")
	connections := flag.Int("connections", 16, "")
	seconds := flag.Float64("seconds", 2, "")
	slice := flag.Float64("slice", 20, "")
	flag.Parse()
	first := connect(*address, *path, *token, *connections)
	if *other == "" {
		took, perSecond := first.load(*seconds)
		slices.Sort(took)
		at := func(part float64) float64 { return float64(took[int(part*float64(len(took)-1))].Microseconds()) / 1000 }
		print(map[string]any{"requests": len(took), "per_second": perSecond, "p50_ms": at(0.5), "p99_ms": at(0.99)})
		return
	}
	second := connect(*other, *path, *otherToken, *connections)
	var ratios []float64
	for end := time.Now().Add(time.Duration(*seconds * float64(time.Second))); time.Now().Before(end); {
		pair := []server{first, second}
		if len(ratios)%2 == 1 {
			slices.Reverse(pair)
		}
		_, one := pair[0].load(*slice / 1000)
		_, two := pair[1].load(*slice / 1000)
		if len(ratios)%2 == 1 {
			one, two = two, one
		}
		ratios = append(ratios, one/two)
	}
	slices.Sort(ratios)
	at := func(part float64) float64 { return ratios[int(part*float64(len(ratios)-1))] }
	// Of a median, from the quartiles: 1.253 times the error of a mean.
	deviation := (at(0.75) - at(0.25)) / 1.349
	print(map[string]any{"pairs": len(ratios), "ratio": at(0.5), "error": 1.253 * deviation / math.Sqrt(float64(len(ratios)))})
}

func print(told map[string]any) {
	json.NewEncoder(os.Stdout).Encode(told)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// A connection to a server, with what it asks.
type connection struct {
	net.Conn
	reader  *bufio.Reader
	request []byte
}

// The connections to a server.
type server []connection

func connect(address, path, token string, count int) server {
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n", path, address)
	if token != "" {
		request += "Authorization: Bearer " + token + "\r\n"
	}
	request += "\r\n"
	var all server
	for range count {
		made, err := net.Dial("tcp", address)
		must(err)
		all = append(all, connection{made, bufio.NewReaderSize(made, 1<<16), []byte(request)})
	}
	return all
}

// load asks over all connections for so long, and answers how long each request took, and how many there were a second.
func (all server) load(seconds float64) ([]time.Duration, float64) {
	var (
		group sync.WaitGroup
		lock  sync.Mutex
		took  []time.Duration
	)
	begun := time.Now()
	end := begun.Add(time.Duration(seconds * float64(time.Second)))
	for _, it := range all {
		group.Go(func() {
			own, err := it.ask(end)
			must(err)
			lock.Lock()
			defer lock.Unlock()
			took = append(took, own...)
		})
	}
	group.Wait()
	return took, float64(len(took)) / time.Since(begun).Seconds()
}

// ask sends requests in sequence until the end, one at least, and answers how long each took.
func (it connection) ask(end time.Time) ([]time.Duration, error) {
	var took []time.Duration
	for begun := time.Now(); len(took) == 0 || begun.Before(end); begun = time.Now() {
		if _, err := it.Write(it.request); err != nil {
			return took, err
		}
		if err := read(it.reader); err != nil {
			return took, err
		}
		took = append(took, time.Since(begun))
	}
	return took, nil
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
