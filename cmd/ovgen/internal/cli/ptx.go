package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/cmd/ovgen/internal/module"
	"ovgen/cmd/ovgen/internal/nvrtc"
)

var ptxVerb = &verb{
	name:  "ptx",
	args:  "FILE.cu",
	short: "compile kernels of your own to PTX",
	long: `ptx compiles FILE.cu by NVRTC to FILE_sm80.ptx beside it, as gen compiles generated kernels:
for functions that launch kernels of their own between the products of a schedule (go doc
ovgen/runtime/plan.Call). FILE.cu may include headers in quotes, such as those of a generated
package device, and these no others. The head of the PTX has the hash of all of them. It is the
PTX of a driver.Code. A file that is the same keeps its time. Kernels whose launches start early
(docs/calls.md) need -from 90.`,
	examples: []string{
		"ovgen ptx kernels/attention.cu",
		"//go:generate go run " + module.Package("cmd/ovgen") + " ptx attention.cu",
	},
	compiles: true, least: 1, most: 1,
	run: ptx,
}

func ptx(c *call) error {
	file := c.path(c.args[0])
	stem, ok := strings.CutSuffix(file, ".cu")
	if !ok {
		return &usageError{c.verb, fmt.Sprintf("%s is no .cu", c.args[0])}
	}
	compiler, err := c.compiler()
	if err != nil {
		return fmt.Errorf("compile %s: %w", c.args[0], err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("compile %s: %w", c.args[0], err)
	}
	headers := map[string][]byte{}
	for _, name := range emit.Includes(source) {
		if headers[name], err = os.ReadFile(filepath.Join(filepath.Dir(file), name)); err != nil {
			return fmt.Errorf("compile %s: %w", c.args[0], err)
		}
	}
	suffix, made, err := emit.PTX(compiler, filepath.Base(stem), c.from, source, headers)
	if err != nil {
		return err
	}
	name := stem + suffix
	if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, made) {
		if err := os.WriteFile(name, made, 0o644); err != nil {
			return fmt.Errorf("compile %s: %w", c.args[0], err)
		}
	}
	assembler, err := nvrtc.FindAssembler(c.env.Dir)
	if err != nil || assembler == nil {
		return err
	}
	lines, err := assembler.Usage(made)
	for _, line := range lines {
		fmt.Fprintln(c.stdout, line)
	}
	return err
}

// compiler is the NVRTC that the command line or the environment names, or the NVRTC of a toolchain folder.
func (c *call) compiler() (*nvrtc.Compiler, error) {
	named := c.nvrtc
	if named == "" {
		named = c.env.lookup("OVGEN_NVRTC")
	} else {
		named = c.path(named)
	}
	return nvrtc.Find(named, c.env.Dir)
}
