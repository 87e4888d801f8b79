package emit

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
	"ovgen/templates"
	"ovgen/verify/prove"
)

// Input is one schedule to emit.
type Input struct {
	Program *hostir.Program // its Name is the name of the schedule's variable
	Doc     string          // comment of the schedule's variable
	Proof   *prove.Report   // its proof; nil for none
	Own     []Own           // the files of the kernels of its calls
}

// Options of a generation.
type Options struct {
	// ImportPath of the folder that holds the packages: ovgen/generated.
	ImportPath string
	// Existing has the files of that folder by name. PTX is kept from it if its stamp is current: the source, the
	// version of NVRTC, its options, and the hash of the PTX itself.
	Existing map[string][]byte
	// Again reports whether the PTX of a package is compiled and assembled once more, to compare; nil means no package.
	Again func(name string) bool
	// Library is the folder of the C library, relative to the folder of the packages and with slashes: ../c. Empty
	// means no library.
	Library string
	// Compiler makes PTX from CUDA C++; nil keeps the PTX of any version of NVRTC.
	Compiler Compiler
	// Missing is the reason why Compiler is nil, with the remedy. It is part of the error when a PTX is not current.
	Missing error
	// Assembler checks each PTX that is not kept for spilled registers; nil checks none.
	Assembler Assembler
	// Report is called with a line for each kernel that Assembler has seen; may be nil.
	Report func(line string)

	missing func(*MissingError)
}

// Compiler compiles CUDA C++ to PTX: package nvrtc has one.
type Compiler interface {
	// Version is "12.4".
	Version() string
	// Compile compiles source, which may include the headers by name. An error in
	// the source is a *nvrtc.SourceError.
	Compile(name string, source []byte, headers map[string][]byte, options []string) ([]byte, error)
}

// Assembler assembles PTX and reports the resources of its kernels.
type Assembler interface {
	// Usage has one line for each kernel; spilled registers are an error.
	Usage(ptx []byte) ([]string, error)
}

// unit is one package in the making.
type unit struct {
	Input
	name    string // of the package
	program *hostir.Program
	options Options
	device  bool // the package has kernels
	kernels kernels.Table
	// formulas are the functions of its kernels of elements and of groups, by the functions' names.
	formulas map[string]*templates.Code
	makings  []*fewrows.Function // functions that kernels of products apply
	code     *device
	chunks   []chunk
	gemms    []gemm
	terms    bool    // a sum collects its terms in a loop
	widths   []width // numbers of columns that are extents
}

// Packages emits a package for each input and, if there is an input, the program that runs them all (package run) and
// the package that chooses among them (package tuned). File names are relative to the folder of Options.ImportPath and
// use slashes. If only PTX could not be made, the error joins a *MissingError for each missing file, and each such file
// says that it has no PTX.
func Packages(inputs []Input, opt Options) (map[string][]byte, error) {
	files := map[string][]byte{}
	inputs = slices.Clone(inputs)
	slices.SortFunc(inputs, func(a, b Input) int { return strings.Compare(a.Program.Name, b.Program.Name) })
	var units []*unit
	var errs, missing []error
	opt.missing = func(e *MissingError) { missing = append(missing, e) }
	for _, in := range inputs {
		u, err := emitted(in, opt, files)
		if err != nil {
			errs = append(errs, fmt.Errorf("schedule %s: %w", in.Program.Name, err))
			continue
		}
		units = append(units, u)
	}
	if err := errors.Join(append(errs, distinct(units), CheckFamilies(inputs))...); err != nil {
		return nil, err
	}
	if err := emitHeaders(files); err != nil {
		return nil, fmt.Errorf("package %s: %w", headersName, err)
	}
	run, err := emitRun(units, opt, files)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", runName, err)
	}
	if err := emitHost(units, run, opt, files); err != nil {
		return nil, fmt.Errorf("package %s: %w", hostName, err)
	}
	if err := emitSchedules(units, files); err != nil {
		return nil, fmt.Errorf("package %s: %w", schedulesName, err)
	}
	if err := emitTuned(units, opt, files); err != nil {
		return nil, fmt.Errorf("package %s: %w", tunedName, err)
	}
	if opt.Library != "" {
		if err := emitLibrary(units, opt, files); err != nil {
			return nil, fmt.Errorf("the C library: %w", err)
		}
	}
	return files, errors.Join(missing...)
}

func newUnit(in Input, opt Options) (*unit, error) {
	u := &unit{Input: in, name: PackageName(in.Program.Name), program: in.Program, options: opt}
	if err := u.checkNames(); err != nil {
		return nil, err
	}
	var err error
	u.formulas = map[string]*templates.Code{}
	if u.kernels, err = u.table(); err != nil {
		return nil, err
	}
	if u.kernels.Calls, err = u.ownKernels(); err != nil {
		return nil, err
	}
	if err := u.findFunctions(); err != nil {
		return nil, err
	}
	if u.device = len(u.kernels.Kernels)+len(u.kernels.Calls) > 0 || len(u.fewRows()) > 0; !u.device {
		return u, nil
	}
	u.code, err = u.deviceCode()
	return u, err
}

// emitted adds the files of one schedule's package. It turns a panic into an error.
func emitted(in Input, opt Options, files map[string][]byte) (u *unit, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the emitter fails on this schedule: %v "+
				"(this is a mistake of ovgen's, not of the schedule: please report it with the schedule)", p)
		}
	}()
	if u, err = newUnit(in, opt); err != nil {
		return nil, err
	}
	return u, u.emit(files)
}

// emit adds the package's files.
func (u *unit) emit(files map[string][]byte) error {
	if err := u.goFiles(files); err != nil || !u.device {
		return err
	}
	if err := u.code.emit(u.options, files); err != nil {
		return err
	}
	return u.kernelFiles(files)
}

func (u *unit) goFiles(files map[string][]byte) error {
	for _, f := range []struct {
		name string
		make func() ([]byte, error)
	}{
		{"doc.go", u.docFile},
		{"program.go", u.programFile},
		{u.name + "_test.go", u.testFile},
	} {
		text, err := f.make()
		if err != nil {
			return err
		}
		files[path.Join(u.name, f.name)] = text
	}
	return nil
}
