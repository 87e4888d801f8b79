package mutate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// overlaid runs tests of the package in dir with a text in place of a file. It returns their output, and whether they
// passed.
func overlaid(ctx context.Context, dir, tests, file string, text []byte) (out []byte, passed bool, err error) {
	name, cleanup, err := overlay(file, text)
	if err != nil {
		return nil, false, err
	}
	defer cleanup()
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-vet=off", "-ldflags=-w", "-v", "-failfast",
		"-run", tests, "-overlay", name, ".")
	cmd.Dir = dir
	out, err = cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, false, err
	}
	return out, err == nil, nil
}

// against corrects a verdict where right says that the change is no mistake.
func against(right string, class Class, why string) (Class, string) {
	switch {
	case right == "":
		return class, why
	case class == Survivor:
		return Safe, right
	case class == Caught:
		return Survivor, "caught, though " + right + ": " + why
	}
	return class, why
}

// overlay makes the go command read a text instead of a file: it returns the argument for its option -overlay.
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
