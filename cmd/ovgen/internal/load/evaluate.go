package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/template"
	"time"
)

// mainFolder is the folder of the program that prints the values. It exists only in the overlay.
const mainFolder = "zz_ovgen_values"

// program writes one JSON value a line, in the order of the declarations, to the file that its argument names: standard
// output is left to the package.
var program = template.Must(template.New("values").Parse(`package main

import (
	"encoding/json"
	"os"

	declared {{printf "%q" .Path}}
)

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	out := json.NewEncoder(f)
	for _, value := range []any{ {{- range .Names}}declared.{{.}}, {{end -}} } {
		if err := out.Encode(value); err != nil {
			panic(err)
		}
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
}
`))

// evaluate fills in the values of the declarations.
func evaluate(ctx context.Context, c Config, src *source, declarations []*Declaration) error {
	temp, err := os.MkdirTemp("", "ovgen-")
	if err != nil {
		return fmt.Errorf("evaluate the schedules: %w", err)
	}
	defer os.RemoveAll(temp)
	folder, err := src.mainFolder(ctx, c)
	if err != nil {
		return err
	}
	overlay, err := writeProgram(temp, filepath.Join(folder, "main.go"), src.pkg.PkgPath, declarations)
	if err != nil {
		return fmt.Errorf("evaluate the schedules: %w", err)
	}
	values := filepath.Join(temp, "values.json")
	// A panic's trace names files, whatever GOFLAGS says.
	cmd := exec.CommandContext(ctx, "go", "run", "-trimpath=false", "-overlay="+overlay, folder, values)
	cmd.Dir = c.Dir
	cmd.Env = append(c.Env[:len(c.Env):len(c.Env)], "PWD="+c.Dir, "GOTRACEBACK=single")
	// The program is a child of the go command: the signal goes to both.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("evaluate the schedules: %w", context.Cause(ctx))
		}
		return src.failure(err, stderr.String())
	}
	f, err := os.Open(values)
	if err != nil {
		return errors.New("evaluate the schedules: the package ends the program before main (remove os.Exit and " +
			"log.Fatal from its initialisation)")
	}
	defer f.Close()
	return decode(f, declarations)
}

// mainFolder is below the package's folder, so that the program may import an internal package. The go command overlays
// nothing in the module cache: for a package of another module, mainFolder is below the module in which the command
// runs.
func (s *source) mainFolder(ctx context.Context, c Config) (string, error) {
	if m := s.pkg.Module; m != nil && m.Main {
		return filepath.Join(filepath.Dir(s.pkg.GoFiles[0]), mainFolder), nil
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOMOD")
	cmd.Dir, cmd.Env = c.Dir, append(c.Env[:len(c.Env):len(c.Env)], "PWD="+c.Dir)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the module of %s: %w", c.Dir, err)
	}
	mod := strings.TrimSpace(string(out))
	if filepath.Base(mod) != "go.mod" {
		return "", fmt.Errorf("evaluate the schedules of %s: %s is in no Go module (run ovgen in a module that "+
			"requires the package's)", s.pkg.PkgPath, c.Dir)
	}
	return filepath.Join(filepath.Dir(mod), mainFolder), nil
}

// writeProgram writes the program, and the overlay that puts it at the virtual path, and returns the overlay's name.
func writeProgram(temp, virtual, path string, declarations []*Declaration) (string, error) {
	data := struct {
		Path  string
		Names []string
	}{Path: path}
	for _, d := range declarations {
		data.Names = append(data.Names, d.Name)
	}
	var text bytes.Buffer
	if err := program.Execute(&text, data); err != nil {
		return "", err
	}
	real := filepath.Join(temp, "main.go")
	if err := os.WriteFile(real, text.Bytes(), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{virtual: real}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(temp, "overlay.json")
	return name, os.WriteFile(name, overlay, 0o600)
}

// decode reads the values. It refuses a field that this ovgen does not know: the field comes from another version of
// package schedule, and its value would be lost.
func decode(values io.Reader, declarations []*Declaration) error {
	in := json.NewDecoder(values)
	in.DisallowUnknownFields()
	for _, d := range declarations {
		if err := in.Decode(&d.Schedule); err != nil {
			return fmt.Errorf("evaluate schedule %s: %w (is the module's version of ovgen this command's?)", d.Name,
				err)
		}
	}
	if _, err := in.Token(); err != io.EOF {
		return fmt.Errorf("evaluate the schedules: more was printed than %d values", len(declarations))
	}
	return nil
}
