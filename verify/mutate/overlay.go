package mutate

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// overlay makes the go command read a text instead of a file: it returns the name of what
// its option -overlay takes.
func overlay(file string, text []byte) (name string, cleanup func(), err error) {
	file, err = filepath.Abs(file)
	if err != nil {
		return "", nil, err
	}
	temp, err := os.MkdirTemp("", "ovgen")
	if err != nil {
		return "", nil, err
	}
	mutant := filepath.Join(temp, filepath.Base(file))
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {file: mutant}})
	name = filepath.Join(temp, "overlay.json")
	err = errors.Join(err, os.WriteFile(mutant, text, 0o600), os.WriteFile(name, replace, 0o600))
	if err != nil {
		os.RemoveAll(temp)
		return "", nil, err
	}
	return name, func() { os.RemoveAll(temp) }, nil
}
