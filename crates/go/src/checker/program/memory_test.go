package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestLimitFor(t *testing.T) {
	for _, it := range []struct{ live, most, limit int64 }{
		{10 << 20, math.MaxInt64, leastLimit},
		{10 << 20, 100 << 20, 100 << 20},
		{2 << 30, math.MaxInt64, 3 << 30},
		{2 << 30, 2 << 30, 2 << 30},
	} {
		if limit := limitFor(it.live, it.most); limit != it.limit {
			t.Errorf("%d of at most %d: %d", it.live, it.most, limit)
		}
	}
}

func TestTheLimitFollowsTheHeap(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	adaptLimit()
	if limit := debug.SetMemoryLimit(-1); limit != leastLimit {
		t.Fatal(limit)
	}
	// Without pointers it is live and takes no resident memory.
	heap := make([]byte, 2*leastLimit)
	for deadline := time.Now().Add(time.Minute); debug.SetMemoryLimit(-1) <= 2*leastLimit; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal(debug.SetMemoryLimit(-1))
		}
		runtime.GC()
	}
	runtime.KeepAlive(heap)
}
