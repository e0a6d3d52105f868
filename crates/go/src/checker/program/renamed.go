package main

import (
	"go/types"
	"maps"
	"path/filepath"
	"slices"
)

type renamedParams struct {
	// The number of the build.
	Build int `json:"build"`
	// The name, and the places where a rename changes it.
	Name   string `json:"name"`
	Places []Name `json:"places"`
}

// A Name is the place of a name.
type Name struct {
	File string `json:"file"`
	At   int    `json:"at"`
}

type renamedResult struct {
	// The places where the name has to change too.
	Places []Name `json:"places"`
	// Files in which the name could not be resolved.
	Unclear []string `json:"unclear"`
}

// What else a rename has to change in a build: the uses of what is renamed, methods that correspond to it through an
// interface, and fields that an embedded type declares.
func (s *server) renamed(params renamedParams) (*renamedResult, error) {
	result := &renamedResult{Places: []Name{}, Unclear: []string{}}
	worlds := s.of(params.Build)
	if len(worlds) == 0 {
		result.Unclear = slices.Collect(maps.Keys(s.loaded.Files))
	}
	for _, w := range worlds {
		places, unclear := w.renamed(&params)
		result.Places, result.Unclear = append(result.Places, places...), append(result.Unclear, unclear...)
	}
	return result, nil
}

func (w *World) renamed(params *renamedParams) (places []Name, unclear []string) {
	keys := w.renamedKeys(params)
	for _, it := range w.order {
		c := w.state[it.id]
		if c == nil || it.borrowed {
			continue
		}
		for key := range keys {
			for _, ref := range c.refsTo(key) {
				if path, _ := filepath.Rel(w.root, ref.file); ref.end-ref.at == len(params.Name) {
					places = append(places, Name{filepath.ToSlash(path), ref.at})
				}
			}
		}
		for spot, declared := range c.declared() {
			if keys[declared.key] {
				places = append(places, Name{w.relative(spot.file), spot.at})
			}
		}
		c.lookUp()
		if len(c.lost[params.Name])+len(c.lost["."+params.Name]) > 0 || c.unfit != "" || it.unfit != "" {
			for _, path := range it.files {
				unclear = append(unclear, w.relative(path))
			}
		}
	}
	return places, unclear
}

// The keys of what is declared at these places, and of what has to have the same name.
func (w *World) renamedKeys(params *renamedParams) map[string]bool {
	keys := map[string]bool{}
	for _, place := range params.Places {
		path := w.absolute(place.File)
		for _, p := range w.looked().of[path] {
			if c := w.state[p.id]; c != nil {
				if it := c.declared()[spot{path, place.At}]; it.key != "" {
					keys[it.key] = true
				}
			}
		}
	}
	for {
		before := len(keys)
		for key := range keys {
			for _, it := range w.related(key) {
				keys[it] = true
			}
		}
		for _, it := range w.order {
			c := w.state[it.id]
			if c == nil || it.borrowed {
				continue
			}
			for field, key := range c.fields() {
				named, ok := types.Unalias(pointed(field.Type())).(*types.Named)
				if field.Embedded() && ok && field.Name() == params.Name && named.Obj().Pkg() != nil {
					if keys[named.Obj().Pkg().Path()+"."+named.Obj().Name()] {
						keys[key] = true
					}
				}
			}
		}
		if len(keys) == before {
			return keys
		}
	}
}

func pointed(it types.Type) types.Type {
	if pointer, ok := types.Unalias(it).(*types.Pointer); ok {
		return pointer.Elem()
	}
	return it
}
