package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// The effect of a change with manifests in it: all builds are loaded again as the change leaves them, without writing
// it, and compared with the present ones.
func (s *server) planned(params *impactParams, result *impactResult) error {
	limit := time.Duration(params.Limit) * time.Millisecond
	if s.took > limit {
		return &Unfit{fmt.Sprintf("loading everything again takes %s", s.took)}
	}
	all := slices.Concat(params.Edits, params.Manifests)
	planned := s.loaded
	planned.Folders, planned.Files = params.Folders, maps.Clone(s.loaded.Files)
	planned.apply(params.Edits)
	tool, end, err := newPlanned(planned.Go, planned.Root, all)
	defer end()
	if err != nil {
		return err
	}
	tool.limit = time.Now().Add(limit)
	planned.goTool = tool
	var worlds []*World
	shared := newCommon()
	for _, folder := range planned.Folders {
		directory := filepath.Join(planned.Root, folder)
		if _, err := os.Stat(directory); err != nil {
			// The go command cannot run there. Other modules load the packages that they import from it.
			result.Unloaded = append(result.Unloaded, folder)
			continue
		}
		world, err := newWorld(&planned, directory, s.loaded.codes, nil, shared)
		if err != nil {
			return err
		}
		worlds = append(worlds, world)
	}
	for _, it := range worlds {
		if time.Now().After(tool.limit) {
			return &Unfit{"loading everything again takes too long"}
		}
		done, err := it.checked()
		if err != nil {
			return err
		}
		if done.unfit != "" {
			return &Unfit{done.unfit}
		}
		result.After = append(result.After, it.reported(done.after)...)
		result.Elsewhere = append(result.Elsewhere, s.newlyBroken(it, done.after)...)
	}
	for _, it := range s.worlds {
		result.Before = append(result.Before, it.reported(it.faults())...)
	}
	return nil
}

func (p *loadParams) apply(edits []Edit) {
	for _, it := range edits {
		if it.Text == nil {
			delete(p.Files, it.File)
		} else {
			p.Files[it.File] = *it.Text
		}
	}
}

// The go command with the files of a planned change. The function removes the copies.
func newPlanned(program, root string, edits []Edit) (*goTool, func(), error) {
	directory, err := os.MkdirTemp("", "semdex-planned-")
	if err != nil {
		return nil, func() {}, err
	}
	end := func() { _ = os.RemoveAll(directory) }
	tool := &goTool{program: program, overlay: filepath.Join(directory, "overlay.json"), planned: map[string]bool{}}
	replace := map[string]string{}
	for number, it := range edits {
		path := filepath.Join(root, it.File)
		tool.planned[path] = it.Text != nil
		if it.Text == nil {
			replace[path] = ""
			continue
		}
		replace[path] = filepath.Join(directory, strconv.Itoa(number))
		if err := os.WriteFile(replace[path], []byte(*it.Text), 0o600); err != nil {
			return nil, end, err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(tool.overlay, overlay, 0o600)
	}
	return tool, end, err
}

// All errors of the present state.
func (w *World) faults() []Fault {
	var found []Fault
	for _, it := range w.state {
		found = append(found, it.faults...)
		for function, body := range it.bodies {
			found = append(found, body.placed(function)...)
		}
	}
	return found
}

// The borrowed packages of a planned build with errors that they do not have now.
func (s *server) newlyBroken(world *World, after []Fault) []string {
	var before []Fault
	for _, it := range s.worlds {
		before = append(before, it.faults()...)
	}
	var found []string
	for _, it := range world.packages {
		isNew := func(fault Fault) bool {
			return slices.Contains(it.files, fault.File) && !slices.Contains(before, fault)
		}
		if it.borrowed && slices.ContainsFunc(after, isNew) {
			found = append(found, it.path)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
