// The four verbs through the client that oapi-codegen makes: main BASE_URL TOKEN.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"semdex.test/client/semdex"
)

func expect[T comparable](what string, wanted, got T) {
	if wanted != got {
		fmt.Fprintf(os.Stderr, "%s: wanted %v, got %v\n", what, wanted, got)
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	ctx := context.Background()
	token := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}
	client := must(semdex.NewClientWithResponses(os.Args[1], semdex.WithRequestEditorFn(token)))
	wait := int64(120_000)

	opened := must(client.OpenWithResponse(ctx, semdex.OpenRequest{File: "src/lib.rs", WaitMs: &wait}))
	expect("open", http.StatusOK, opened.StatusCode())
	expect("the package", "greeter", *opened.JSON200.Package)

	symbol := "greeter::greet"
	described := must(client.DescribeWithResponse(ctx, semdex.DescribeRequest{Symbol: &symbol, WaitMs: &wait}))
	expect("describe", http.StatusOK, described.StatusCode())
	about := must(described.JSON200.AsDescribedSymbol())
	expect("its path", symbol, about.Symbol.Path)

	usages := must(client.UsagesWithResponse(ctx, &semdex.UsagesParams{Symbol: symbol, WaitMs: &wait}))
	expect("usages", 3, usages.JSON200.Total)

	name, content, mode := "notes.txt", "one\n", semdex.Create
	written := must(client.WriteWithResponse(ctx, semdex.WriteRequest{Name: name, Content: content, Mode: &mode, WaitMs: &wait}))
	expect("write", http.StatusOK, written.StatusCode())
	undone := must(client.UndoWithResponse(ctx, semdex.UndoRequest{Change: written.JSON200.Change, WaitMs: &wait}))
	expect("undo", true, undone.JSON200.Applied)

	missing := must(client.OpenWithResponse(ctx, semdex.OpenRequest{File: "src/lbi.rs"}))
	expect("what is not there", http.StatusNotFound, missing.StatusCode())
	expect("its code", semdex.ProblemCodeUnknownFile, missing.ApplicationproblemJSON404.Code)
	fmt.Println("the four verbs: fine")
}
