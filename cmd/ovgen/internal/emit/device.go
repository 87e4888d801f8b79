package emit

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/templates"
)

// device is the device code of one package as text.
type device struct {
	name     string // of the package, and of its folder in the output
	from     string // the source of the package: "schedule GatedMLP"
	includes []string
	headers  map[string][]byte // all headers, by name
	source   templates.Text
	host     []templates.HostKernel
	arch     arch
	own      []Own
}

// render makes the text of a .cu.
func (d device) render(parts []templates.Part) (*device, error) {
	var err error
	if d.headers, err = templates.Headers(); err != nil {
		return nil, err
	}
	d.source, err = templates.Render(parts...)
	d.source = d.source.Numbered(d.name + ".cu")
	return &d, err
}

// texts are the .cu and the headers that it includes: the source of the PTX.
func (d *device) texts() [][]byte {
	texts := [][]byte{d.source.Bytes}
	for _, name := range d.includes {
		texts = append(texts, d.headers[name])
	}
	return texts
}

// digest is the hash of the source that PTX is compiled from.
func (d *device) digest() string { return driver.Digest(d.texts()...) }

// emit adds NAME.cu and the PTX: NAME_sm80.ptx.
func (d *device) emit(opt Options, files map[string][]byte) error {
	stem := path.Join(d.name, d.name)
	files[stem+".cu"] = d.source.Bytes
	current, again := d.current(opt), opt.Again != nil && opt.Again(d.name)
	if current != nil && !again {
		files[stem+d.arch.suffix] = current
		return nil
	}
	ptx, err := d.ptx(opt, current)
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		files[stem+d.arch.suffix] = ptx
		opt.missing(missing)
		return nil
	}
	if err != nil {
		return err
	}
	files[stem+d.arch.suffix] = ptx
	if opt.Assembler == nil {
		return nil
	}
	lines, err := opt.Assembler.Usage(ptx)
	if err != nil {
		return fmt.Errorf("%s: %w", stem+d.arch.suffix, err)
	}
	for _, l := range lines {
		if opt.Report != nil {
			opt.Report(d.name + ": " + l)
		}
	}
	return nil
}

// arch is the GPUs for which PTX is compiled.
type arch struct{ suffix, option string }

// Compute capability 8.0 and later; 8.9 and later, with instructions that narrow to eight bits and widen them; 9.0
// and later, where launches may start early; and 9.0 alone, for its tensor cores.
var (
	sm80  = arch{"_sm80.ptx", "--gpu-architecture=compute_80"}
	sm89  = arch{"_sm89.ptx", "--gpu-architecture=compute_89"}
	sm90  = arch{"_sm90.ptx", "--gpu-architecture=compute_90"}
	sm90a = arch{"_sm90a.ptx", "--gpu-architecture=compute_90a"}
)

// archOf is the architecture that the kernels of a package need.
func archOf(d templates.Device) arch {
	switch {
	case d.Only90():
		return sm90a
	case d.Table.Early:
		return sm90
	case d.Narrow() || slices.ContainsFunc(d.Table.Kernels, kernels.Kernel.Narrows):
		return sm89
	}
	return sm80
}

// options of the compiler.
func (a arch) options() []string { return []string{a.option, "--std=c++17"} }

// stamp heads the PTX of this source.
func (d *device) stamp() stamp { return stamp{name: d.name, source: d.digest(), arch: d.arch} }

// current is the existing PTX if it was compiled from this source by the compiler's version of NVRTC or, where there is
// no compiler, by any version; else nil.
func (d *device) current(opt Options) []byte {
	have := opt.Existing[path.Join(d.name, d.name+d.arch.suffix)]
	version, ok := d.stamp().version(have)
	if !ok || opt.Compiler != nil && version != opt.Compiler.Version() {
		return nil
	}
	return have
}

// ptx compiles the source or, without a compiler, keeps current PTX. With a *MissingError it also returns a placeholder
// that says that the PTX is missing.
func (d *device) ptx(opt Options, current []byte) ([]byte, error) {
	if opt.Compiler == nil {
		if current != nil {
			return current, nil
		}
		return d.stamp().absent(), &MissingError{File: path.Join(d.name, d.name+d.arch.suffix), Why: opt.Missing}
	}
	headers := map[string][]byte{}
	for name, text := range d.headers {
		headers["../"+headersName+"/"+name] = text
	}
	ptx, err := opt.Compiler.Compile(d.name+".cu", d.source.Bytes, headers, d.arch.options())
	if err != nil {
		return nil, d.inTemplates(err)
	}
	return d.stamp().file(opt.Compiler.Version(), ptx), nil
}

// MissingError says that PTX was not made, since there is no compiler.
type MissingError struct {
	File string // below the output folder
	Why  error  // the reason why there is no compiler; may be nil
}

// Error names the missing file and the remedy.
func (e *MissingError) Error() string {
	return fmt.Sprintf("make %s: compiling it needs NVRTC: %v", e.File, e.Unwrap())
}

// Unwrap is the reason why there is no compiler.
func (e *MissingError) Unwrap() error {
	if e.Why == nil {
		return errNoCompiler
	}
	return e.Why
}

var errNoCompiler = errors.New("none was given (run make toolchain, or name one with -nvrtc PATH or OVGEN_NVRTC)")
