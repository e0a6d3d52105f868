package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A package as reported by `go list`.
type listed struct {
	ImportPath, Name, Dir, ForTest  string
	GoFiles, CgoFiles, Imports      []string
	IgnoredGoFiles, CompiledGoFiles []string
	ImportMap                       map[string]string
	Standard                        bool
	Module                          *module
	Error                           *struct{ Err string }
}

type module struct {
	Path, GoVersion string
	Main            bool
	Replace         *struct{ Dir, Version string }
}

const listedFields = "ImportPath,Name,Dir,ForTest,GoFiles,CgoFiles,IgnoredGoFiles,Imports,ImportMap,Standard,Module,Error"

// The package patterns of a directory's build: for a `go.work`, the directories of its modules.
func patterns(tool *goTool, directory string) ([]string, error) {
	if !tool.has(filepath.Join(directory, "go.work")) {
		return []string{"./..."}, nil
	}
	modules, err := tool.list(directory, "-m", "-json=Dir")
	var found []string
	for _, it := range modules {
		if inside, err := filepath.Rel(directory, it.Dir); it.Dir != "" && err == nil {
			found = append(found, "./"+filepath.ToSlash(filepath.Join(inside, "...")))
		}
	}
	return found, err
}

// A goTool is the go command, and the files that it is to read in place of those on disk.
type goTool struct {
	program string
	// The file for `-overlay`; empty if the disk counts.
	overlay string
	// By absolute path, whether a file exists that the overlay has.
	planned map[string]bool
	limit   time.Time
	// The build to list; nil for the default build.
	build *Build
}

func (g *goTool) has(path string) bool {
	if exists, known := g.planned[path]; known {
		return exists
	}
	_, err := os.Stat(path)
	return err == nil
}

func (g *goTool) list(directory string, arguments ...string) ([]*listed, error) {
	if g.build != nil {
		arguments = append([]string{"-tags=" + strings.Join(g.build.Tags, ",")}, arguments...)
	}
	arguments = append([]string{"list", "-e"}, arguments...)
	ctx, cancel := context.Background(), func() {}
	if g.overlay != "" {
		arguments = slices.Insert(arguments, 1, "-overlay="+g.overlay)
		ctx, cancel = context.WithDeadline(ctx, g.limit)
	}
	defer cancel()
	command := exec.CommandContext(ctx, g.program, arguments...)
	command.Dir = directory
	// The sources are read as this version of Go reads them. The directory may be a link, and paths here use the link's
	// name.
	command.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOMEMLIMIT=", "GOGC=", "PWD="+directory)
	if g.build != nil {
		command.Env = append(command.Env, "GOOS="+g.build.Goos, "GOARCH="+g.build.Goarch, "CGO_ENABLED=0")
	}
	if g.overlay != "" {
		// A change that is not made downloads nothing.
		command.Env = append(command.Env, "GOPROXY=off", "GONOPROXY=none", "GOVCS=*:off", "GOSUMDB=off")
	}
	var complaint strings.Builder
	command.Stderr = &complaint
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	var found []*listed
	decoder := json.NewDecoder(out)
	for {
		it := &listed{}
		if err = decoder.Decode(it); err != nil {
			break
		}
		found = append(found, it)
	}
	_, _ = io.Copy(io.Discard, out)
	if failed := command.Wait(); failed != nil {
		return nil, fmt.Errorf("go list: %s", strings.TrimSpace(complaint.String()))
	}
	if err != io.EOF {
		return nil, err
	}
	return found, nil
}

// Whether a package belongs to the workspace and is checked from its source.
func (it *listed) isOwn(root string) bool {
	if it.Standard || it.Module == nil || len(it.CgoFiles) > 0 {
		return false
	}
	if replaced := it.Module.Replace; replaced != nil && replaced.Version != "" {
		return false
	}
	return it.isInside(root) && (it.Module.Main || it.Module.Replace != nil)
}

func (it *listed) isInside(root string) bool {
	inside, err := filepath.Rel(root, it.Dir)
	return err == nil && filepath.IsLocal(inside)
}

// The version of the language, as in `types.Config`; empty for the newest.
func (it *listed) goVersion() string {
	if it.Module == nil || it.Module.GoVersion == "" {
		return ""
	}
	return "go" + it.Module.GoVersion
}

// Whether it is the generated main package of a test binary.
func (it *listed) isTestMain() bool {
	return it.Name == "main" && strings.HasSuffix(it.ImportPath, ".test")
}
