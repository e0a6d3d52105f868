package main

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The server has one world for each module or `go.work` of the workspace, in each build that it is to load.
type server struct {
	worlds []*World
	// Directories that no build includes.
	foreign map[string]bool
	// The reason why no query can be answered, if there is one.
	unfit string
	// What was loaded, with the present texts, and how long it took.
	loaded loadParams
	took   time.Duration
}

type loadParams struct {
	Root string `json:"root"`
	// The go command, its GOROOT, and the build target.
	Go     string `json:"go"`
	Goroot string `json:"goroot"`
	Arch   string `json:"arch"`
	// What to load in place of the default build.
	Builds []Build `json:"builds"`
	// The directories of the modules and `go.work` files, and all texts of the workspace by their names.
	Folders []string          `json:"folders"`
	Files   map[string]string `json:"files"`
	codes   map[int]string
	// With the files of a planned change.
	goTool *goTool
}

func (p *loadParams) tool() *goTool {
	if p.goTool != nil {
		return p.goTool
	}
	return &goTool{program: p.Go}
}

type loadResult struct {
	Packages int   `json:"packages"`
	Millis   int64 `json:"millis"`
	// The live heap, in bytes.
	Live int64 `json:"live"`
}

func (s *server) load(params loadParams) (*loadResult, error) {
	begin := time.Now()
	s.worlds, s.unfit = nil, "nothing is loaded"
	codes := errorCodes(params.Goroot)
	if len(codes) == 0 {
		return nil, errors.New("the names of the compiler's errors are not known")
	}
	params.codes = codes
	result := &loadResult{}
	builds := []*Build{nil}
	if len(params.Builds) > 0 {
		builds = builds[:0]
		for at := range params.Builds {
			builds = append(builds, &params.Builds[at])
		}
	}
	for at, build := range builds {
		worlds, err := params.worlds(build, at)
		if err != nil && build == nil {
			return nil, err
		}
		// A further build that cannot be loaded has no world, and answers nothing.
		s.worlds = append(s.worlds, worlds...)
	}
	for _, it := range s.worlds {
		result.Packages += len(it.packages)
	}
	s.foreign = map[string]bool{}
	for name := range params.Files {
		directory := filepath.Dir(filepath.Join(params.Root, name))
		isListed := func(it *World) bool { return it.directories[directory] }
		s.foreign[directory] = !slices.ContainsFunc(s.worlds, isListed)
	}
	s.unfit, s.loaded, s.took = "", params, time.Since(begin)
	result.Millis = s.took.Milliseconds()
	// A load leaves much garbage.
	runtime.GC()
	result.Live = liveHeap()
	return result, nil
}

// The worlds of a build.
func (p *loadParams) worlds(build *Build, number int) ([]*World, error) {
	var found []*World
	shared := newCommon()
	for _, folder := range p.Folders {
		world, err := newWorld(p, filepath.Join(p.Root, folder), p.codes, build, shared)
		if err != nil {
			return nil, err
		}
		if err := world.checkAll(); err != nil {
			return nil, err
		}
		world.number = number
		world.prepare()
		found = append(found, world)
	}
	return found, nil
}

// Prepares data that answers need.
func (w *World) prepare() {
	for _, it := range w.state {
		it.refsTo("")
		it.shapes()
		it.fields()
	}
	w.external.asked()
}

type feedParams struct {
	Edits []Edit `json:"edits"`
}

// Applies a change of the workspace.
func (s *server) feed(params feedParams) (any, error) {
	if s.unfit == "" {
		s.loaded.apply(params.Edits)
		known := slices.DeleteFunc(params.Edits, s.isForeign)
		worlds, err := s.concerned(s.worlds, known)
		for _, it := range worlds {
			var done *pass
			if done, err = it.pass(known, true); err != nil {
				break
			}
			done.keep()
			it.prepare()
		}
		if err != nil {
			s.worlds, s.unfit = nil, err.Error()
		}
	}
	return nil, nil
}

func (s *server) isForeign(it Edit) bool {
	for _, world := range s.worlds {
		return s.foreign[filepath.Dir(filepath.Join(world.root, it.File))]
	}
	return false
}

type settleResult struct {
	// The reason for loading everything again.
	Unfit string `json:"unfit,omitempty"`
}

// Waits for all earlier messages.
func (s *server) settle(struct{}) (*settleResult, error) {
	return &settleResult{s.unfit}, nil
}

// The worlds that the edits affect. An edit of a file that a build has, and that affects no world of this build, belongs
// to an unknown package.
func (s *server) concerned(worlds []*World, edits []Edit) ([]*World, error) {
	var found []*World
	for _, edit := range edits {
		isDependency := s.isDependency(edit.File)
		known := map[int]bool{}
		for _, it := range worlds {
			path := filepath.Join(it.root, edit.File)
			isTaken := it.takes(edit)
			known[it.number] = known[it.number] || !isTaken && !isDependency
			if it.files[path] != nil || isTaken && it.hasPackage(filepath.Dir(path)) {
				known[it.number] = true
				if !slices.Contains(found, it) {
					found = append(found, it)
				}
			}
		}
		for _, it := range worlds {
			if !known[it.number] {
				return nil, &Unfit{edit.File + " is in no package that is loaded"}
			}
		}
		if len(worlds) == 0 && (edit.Active || isDependency) {
			return nil, &Unfit{edit.File + " is in no package that is loaded"}
		}
	}
	return found, nil
}

// The worlds of one build.
func (s *server) of(build int) []*World {
	var found []*World
	for _, it := range s.worlds {
		if it.number == build {
			found = append(found, it)
		}
	}
	return found
}

// Whether it belongs to a built package in a directory that the go command otherwise ignores: a vendored one.
func (s *server) isDependency(file string) bool {
	isVendored := slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(file)), "/"), "vendor")
	return isVendored && slices.ContainsFunc(s.worlds, func(it *World) bool { return it.directories[filepath.Dir(it.absolute(file))] })
}

func (w *World) hasPackage(directory string) bool {
	for _, it := range w.packages {
		if it.directory == directory {
			return true
		}
	}
	return false
}

type impactParams struct {
	// The number of the build.
	Build int    `json:"build"`
	Edits []Edit `json:"edits"`
	// Changed manifests, and the directories of the builds after that.
	Manifests []Edit   `json:"manifests"`
	Folders   []string `json:"folders"`
	// The milliseconds for an answer about manifests.
	Limit int64 `json:"limit"`
	// The keys whose uses before the edits are requested.
	Symbols []string `json:"symbols"`
}

type impactResult struct {
	Unfit string `json:"unfit,omitempty"`
	// Errors in all checked code; those in both lists are no difference.
	Before []Fault `json:"before"`
	After  []Fault `json:"after"`
	// One entry for each symbol.
	Uses  [][]Place `json:"uses"`
	Tests []Test    `json:"tests"`
	// Packages outside the workspace that import it and would be broken.
	Elsewhere []string `json:"elsewhere"`
	// The directories of new modules, of which only what other modules import was checked.
	Unloaded []string `json:"unloaded"`
	// Milliseconds of the check, and in total.
	Checked  float64 `json:"checked"`
	Answered float64 `json:"answered"`
}

// The effect of edits.
func (s *server) impact(params impactParams) (*impactResult, error) {
	begin := time.Now()
	if s.unfit != "" || s.worlds == nil {
		return &impactResult{Unfit: "nothing is loaded: " + s.unfit}, nil
	}
	result := &impactResult{Uses: make([][]Place, len(params.Symbols))}
	if len(params.Manifests) > 0 && len(s.loaded.Builds) > 0 {
		return &impactResult{Unfit: "a manifest changes"}, nil
	}
	if len(params.Manifests) > 0 {
		if err := s.planned(&params, result); err != nil {
			return &impactResult{Unfit: err.Error()}, nil
		}
		s.reached(&params, s.worlds, result)
		result.Answered = float64(time.Since(begin).Microseconds()) / 1000
		return result, nil
	}
	worlds, err := s.concerned(s.of(params.Build), params.Edits)
	if err != nil {
		return &impactResult{Unfit: err.Error()}, nil
	}
	for _, it := range worlds {
		done, err := it.pass(params.Edits, false)
		if err != nil {
			return &impactResult{Unfit: err.Error()}, nil
		}
		done.end()
		if done.unfit != "" {
			return &impactResult{Unfit: done.unfit}, nil
		}
		result.Before = append(result.Before, it.reported(done.before)...)
		result.After = append(result.After, it.reported(done.after)...)
		result.Elsewhere = append(result.Elsewhere, done.brokenElsewhere()...)
	}
	result.Checked = float64(time.Since(begin).Microseconds()) / 1000
	s.reached(&params, worlds, result)
	result.Answered = float64(time.Since(begin).Microseconds()) / 1000
	return result, nil
}

// Adds the uses of what changes, and the tests that reach it.
func (s *server) reached(params *impactParams, worlds []*World, result *impactResult) {
	for _, it := range worlds {
		for at, key := range params.Symbols {
			for _, key := range it.related(key) {
				for _, ref := range it.refsTo(key) {
					if place := it.place(ref); filepath.IsLocal(place.File) {
						result.Uses[at] = append(result.Uses[at], place)
					}
				}
			}
		}
		result.Tests = append(result.Tests, it.tests(params.Symbols)...)
	}
	for at := range result.Uses {
		slices.SortFunc(result.Uses[at], Place.compare)
		result.Uses[at] = slices.Compact(result.Uses[at])
	}
	slices.SortStableFunc(result.Tests, func(a, b Test) int { return a.Distance - b.Distance })
}

func (w *World) reported(faults []Fault) []Fault {
	var reported []Fault
	for _, it := range faults {
		if it.File = w.relative(it.File); filepath.IsLocal(it.File) {
			reported = append(reported, it)
		}
	}
	return reported
}

// The borrowed packages with new errors: no edit changes their texts.
func (p *pass) brokenElsewhere() []string {
	var found []string
	for _, it := range p.nodes {
		isNew := func(fault Fault) bool {
			return slices.Contains(it.of.files, fault.File) && !slices.Contains(p.before, fault)
		}
		if it.of.borrowed && slices.ContainsFunc(p.after, isNew) {
			found = append(found, it.of.path)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
