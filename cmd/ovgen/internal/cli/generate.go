package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"ovgen/cmd/ovgen/internal/emit"
	"ovgen/cmd/ovgen/internal/nvrtc"
	"ovgen/cmd/ovgen/internal/output"
)

// generation is the generated form of a package of schedules, and the present files.
type generation struct {
	dir     string // of the output, absolute
	inputs  []emit.Input
	proven  string // the proofs, in a sentence
	changes []output.Change
	files   int
	missing []*emit.MissingError // the PTX that could not be made; all other files are made
	kernels []string             // ptxas' report on each kernel
}

// generate makes every file in memory. It keeps current PTX, or compiles it again if asked.
func (c *call) generate(again func(name string) bool) (*generation, error) {
	g := &generation{dir: c.path(c.output)}
	list, err := c.proven(g.dir)
	if err != nil {
		return nil, err
	}
	if err := list.mistakes().Err(); err != nil {
		return nil, err
	}
	opt, err := c.options(g)
	if err != nil {
		return nil, err
	}
	opt.Again = again
	g.inputs, g.proven = list.inputs(), list.agreement()
	files, err := emit.Packages(g.inputs, opt)
	var rest error
	if g.missing, rest = missing(err); rest != nil {
		return nil, list.blame(rest)
	}
	g.files = len(files)
	g.changes = output.Compare(opt.Existing, files)
	return g, nil
}

// namedFiles is the number of missing files that noteMissing names.
const namedFiles = 3

// noteMissing names the packages without device code for GPUs, and the way to make it.
func (c *call) noteMissing(g *generation) {
	if len(g.missing) == 0 {
		return
	}
	var names []string
	for _, m := range g.missing[:min(namedFiles, len(g.missing))] {
		names = append(names, m.File)
	}
	files := "1 file"
	if n := len(g.missing); n > 1 {
		files = fmt.Sprintf("%d files", n)
	}
	if more := len(g.missing) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	fmt.Fprintf(c.stderr, "ovgen: no device code for GPUs in %s: %s\n", files, strings.Join(names, ", "))
	fmt.Fprintln(c.stderr, "ovgen: their packages build, and run in the simulator; on a GPU, New refuses them")
	fmt.Fprintf(c.stderr, "ovgen: to compile it, get NVRTC and generate again: %v\n", g.missing[0].Unwrap())
}

// options returns the emitter's options: the folder of the packages, its present files, and the compiler.
func (c *call) options(g *generation) (emit.Options, error) {
	var opt emit.Options
	var err error
	if opt.ImportPath, err = c.importPath(g.dir); err != nil {
		return opt, err
	}
	if opt.Existing, err = output.Read(g.dir); err != nil {
		return opt, err
	}
	if err := c.libraryFolder(g.dir, &opt); err != nil {
		return opt, err
	}
	compiler, err := c.compiler()
	switch {
	case errors.Is(err, nvrtc.ErrMissing):
		opt.Missing = err
	case err != nil:
		return opt, err
	default:
		opt.Compiler = compiler
	}
	assembler, err := nvrtc.FindAssembler(c.env.Dir)
	if err != nil {
		return opt, err
	}
	if assembler != nil {
		opt.Assembler = assembler
	}
	opt.Report = func(line string) { g.kernels = append(g.kernels, line) }
	return opt, nil
}

// libraryFolder adds the folder of the C library, with its present files.
func (c *call) libraryFolder(packages string, opt *emit.Options) error {
	if c.library == "" {
		return nil
	}
	dir := c.path(c.library)
	rel, err := filepath.Rel(packages, dir)
	if err != nil {
		return fmt.Errorf("find the folder of the C library: %w", err)
	}
	opt.Library = filepath.ToSlash(rel)
	return output.ReadFolder(dir, opt.Library, opt.Existing)
}

// importPath is the import path of the folder of the packages: its module's path, and the folder's path in the module.
func (c *call) importPath(dir string) (string, error) {
	there := dir
	for {
		if info, err := os.Stat(there); err == nil && info.IsDir() {
			break
		}
		there = filepath.Dir(there)
	}
	cmd := exec.CommandContext(c.ctx, "go", "list", "-m", "-f", "{{.Path}}\n{{.Dir}}")
	cmd.Dir = there
	cmd.Env = append(c.env.Vars[:len(c.env.Vars):len(c.env.Vars)], "PWD="+there, "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the Go module of %s: %w%s", dir, err, outputOf(err))
	}
	module, root, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if root == "" {
		return "", fmt.Errorf("find the Go module of %s: there is none (name a folder in a module with -o, or run go "+
			"mod init)", dir)
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return "", fmt.Errorf("find the Go module of %s: %w", dir, err)
	}
	return path.Join(module, filepath.ToSlash(rel)), nil
}

// outputOf is the standard error of a failed command.
func outputOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return "\n" + strings.TrimSpace(string(exit.Stderr))
	}
	return ""
}

// missing separates the PTX that could not be made from the rest of an error of the emitter.
func missing(err error) (files []*emit.MissingError, rest error) {
	for _, e := range flatten(err) {
		if m := (*emit.MissingError)(nil); errors.As(e, &m) {
			files = append(files, m)
		} else {
			rest = errors.Join(rest, e)
		}
	}
	return files, rest
}

// flatten splits joined errors.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}
