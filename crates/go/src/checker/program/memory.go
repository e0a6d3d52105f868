package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Up to this heap garbage is not worth a collection.
const leastLimit = 548 << 20

// limitFor is the soft memory limit for a live heap: half as much again, so that collections are not too frequent. The
// limit at the start is the most that the process may use.
func limitFor(live, most int64) int64 {
	return min(most, max(leastLimit, live+live/2))
}

// liveHeap returns the bytes that the last collection found in use.
func liveHeap() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}

// The runtime finalizes it after each collection. It is too large to share its memory with other objects.
type collected struct{ _ [64]byte }

// adaptLimit lets the memory limit follow the live heap.
func adaptLimit() {
	most := debug.SetMemoryLimit(-1)
	now := int64(0)
	adapt := func() {
		if limit := limitFor(liveHeap(), most); limit != now {
			now = limit
			debug.SetMemoryLimit(limit)
		}
	}
	adapt()
	var finalize func(*collected)
	finalize = func(it *collected) {
		adapt()
		runtime.SetFinalizer(it, finalize)
	}
	runtime.SetFinalizer(&collected{}, finalize)
}
