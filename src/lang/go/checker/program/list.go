package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A package as `go list` tells it.
type listed struct {
	ImportPath, Name, Dir, ForTest, Export string
	GoFiles, CgoFiles, Imports             []string
	ImportMap                              map[string]string
	Standard                               bool
	Module                                 *module
	Error                                  *struct{ Err string }
}

type module struct {
	Path, GoVersion string
	Main            bool
	Replace         *struct{ Dir, Version string }
}

const listedFields = "ImportPath,Name,Dir,ForTest,GoFiles,CgoFiles,Imports,ImportMap,Standard,Module,Error"

func list(program, directory string, arguments ...string) ([]*listed, error) {
	command := exec.Command(program, append([]string{"list", "-e"}, arguments...)...)
	command.Dir = directory
	// The export data of another Go could not be read. The directory may be a link, by whose name things go here.
	command.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOMEMLIMIT=", "GOGC=", "PWD="+directory)
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

// Whether a package is the workspace's own, to be checked from its source.
func (it *listed) isOwn(root string) bool {
	if it.Standard || it.Module == nil || len(it.CgoFiles) > 0 {
		return false
	}
	if replaced := it.Module.Replace; replaced != nil && replaced.Version != "" {
		return false
	}
	inside, err := filepath.Rel(root, it.Dir)
	return err == nil && inside != ".." && !strings.HasPrefix(inside, "../") && (it.Module.Main || it.Module.Replace != nil)
}

// The test binary's main package, which is generated.
func (it *listed) isTestMain() bool {
	return it.Name == "main" && strings.HasSuffix(it.ImportPath, ".test")
}
