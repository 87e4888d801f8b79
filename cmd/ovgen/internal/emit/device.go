package emit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/schedule/hostir"
	"ovgen/templates"
)

// The kinds of kernel that a transport is made of, each a template. The last three
// signal around their work.
const (
	waitKernel   = "wait"
	postKernel   = "post"
	copyKernel   = "copy"
	reduceKernel = "reduce"
	getKernel    = "get"
	putKernel    = "put"
	shotKernel   = "shot"
)

// allKinds is the order in which a package lists its kernels.
var allKinds = []string{waitKernel, postKernel, copyKernel, reduceKernel, getKernel, putKernel, shotKernel}

// common are the templates of what several kinds are made with, in the order in which
// a package has them.
var common = []struct {
	name           string
	header, source bool
	kinds          []string
}{
	{"peers", true, false, []string{waitKernel, postKernel, getKernel, putKernel, shotKernel}},
	{"words", false, true, []string{waitKernel, postKernel, getKernel, putKernel, shotKernel}},
	{"fused", true, true, []string{getKernel, putKernel, shotKernel}},
	{"bytes", false, true, []string{copyKernel, getKernel, putKernel}},
	{"sum", true, true, []string{reduceKernel, shotKernel}},
}

// kinds of kernel that the program uses, in a fixed order.
func (u *unit) kinds() []string {
	used := map[string]bool{}
	hostir.Steps(u.program.Body, func(s hostir.Step) { used[s.By] = true })
	return slices.DeleteFunc(slices.Clone(allKinds), func(k string) bool { return !used[k] })
}

// has says whether the program uses one of these kinds.
func (u *unit) has(kinds ...string) bool {
	return slices.ContainsFunc(u.kinds(), func(k string) bool { return slices.Contains(kinds, k) })
}

// signals says whether kernels post or wait, fused whether some also work.
func (u *unit) signals() bool { return u.has(waitKernel, postKernel) || u.fused() }
func (u *unit) fused() bool   { return u.has(getKernel, putKernel, shotKernel) }

// copies and sums say what kernels work at.
func (u *unit) copies() bool { return u.has(copyKernel, getKernel, putKernel) }
func (u *unit) sums() bool   { return u.has(reduceKernel, shotKernel) }

// limited says whether the kernels serve a number of ranks only.
func (u *unit) limited() bool { return u.signals() || u.sums() }

// summaries are the kernels as the head of a .cu lists them.
var summaries = map[string]string{
	waitKernel: "waits until peers have posted, and resets",
	postKernel: "posts to peers",
	copyKernel: "copies, out of a peer's memory or its own",

	reduceKernel: "adds up tensors, in one order and in fp32",
	getKernel:    "waits, copies from a peer, and posts",
	putKernel:    "waits, copies to a peer, and posts",
	shotKernel:   "posts and waits, adds up tensors, posts and waits",
}

// deviceCode is the device code of a package with kernels.
func (u *unit) deviceCode() device {
	d := device{dir: u.name, headers: []string{"head.h.tmpl"}, sources: []string{"head.cu.tmpl"}}
	d.data = templates.Device{Package: u.name, From: "schedule " + u.program.Name,
		About: []string{"The kernels of " + u.program.Name + "'s transport, launched by the host program in program.go:"}}
	for _, s := range common {
		if s.header && u.has(s.kinds...) {
			d.headers = append(d.headers, s.name+".h.tmpl")
		}
		if s.source && u.has(s.kinds...) {
			d.sources = append(d.sources, s.name+".cu.tmpl")
		}
	}
	width := 0
	for _, k := range u.kinds() {
		width = max(width, len(k))
	}
	for _, k := range u.kinds() {
		name := u.name + "_" + k
		d.data.Kernels = append(d.data.Kernels, templates.Kernel{Name: name, Params: name})
		d.data.About = append(d.data.About, fmt.Sprintf("  %-*s  %s", width, k, summaries[k]))
		d.headers = append(d.headers, k+".h.tmpl")
		d.sources = append(d.sources, k+".cu.tmpl")
	}
	d.headers = append(d.headers, "foot.h.tmpl")
	return d
}

// device is the device code of one package.
type device struct {
	dir              string // of the package, in the output
	data             templates.Device
	headers, sources []string // templates, in order
}

// rendered is device code as text.
type rendered struct {
	device
	header, source templates.Text
}

// render makes the text of the header and the .cu.
func (d device) render() (*rendered, error) {
	header, err := templates.Render(d.data, d.headers...)
	if err != nil {
		return nil, err
	}
	source, err := templates.Render(d.data, d.sources...)
	if err != nil {
		return nil, err
	}
	return &rendered{d, header, source}, nil
}

// digest is what PTX is compiled from.
func (r *rendered) digest() string { return driver.Digest(r.header.Bytes, r.source.Bytes) }

// emit adds NAME.h, NAME.cu, NAME_host.cc and NAME_sm80.ptx.
func (r *rendered) emit(opt Options, files map[string][]byte) error {
	sum := sha256.Sum256(r.source.Bytes)
	r.data.Source = hex.EncodeToString(sum[:])
	host, err := templates.Render(r.data, "host.cc.tmpl")
	if err != nil {
		return err
	}
	stem := path.Join(r.dir, r.data.Package)
	files[stem+".h"] = r.header.Bytes
	files[stem+".cu"] = r.source.Bytes
	files[stem+"_host.cc"] = host.Bytes
	ptx, err := r.ptx(opt)
	if missing := (*MissingError)(nil); errors.As(err, &missing) {
		files[stem+ptxSuffix] = ptx
		opt.missing(missing)
		return nil
	}
	if err != nil {
		return err
	}
	files[stem+ptxSuffix] = ptx
	if opt.Assembler == nil {
		return nil
	}
	lines, err := opt.Assembler.Usage(ptx)
	if err != nil {
		return fmt.Errorf("%s: %w", stem+ptxSuffix, err)
	}
	for _, l := range lines {
		if opt.Report != nil {
			opt.Report(l)
		}
	}
	return nil
}

// ptxSuffix ends the name of a PTX file for compute capability 8.0 and later.
const ptxSuffix = "_sm80.ptx"

// ptx compiles the source, or keeps the existing PTX if it is current. With a
// *MissingError comes the file that says that there is none.
func (r *rendered) ptx(opt Options) ([]byte, error) {
	name := path.Join(r.dir, r.data.Package+ptxSuffix)
	stamp := newStamp(r.data.Package, r.header.Bytes, r.source.Bytes)
	if opt.Compiler == nil {
		have := opt.Existing[name]
		if stamp.current(have) {
			return have, nil
		}
		return stamp.absent(), &MissingError{File: name, Why: opt.Missing}
	}
	headers := map[string][]byte{r.data.Package + ".h": r.header.Bytes}
	ptx, err := opt.Compiler.Compile(r.data.Package+".cu", r.source.Bytes, headers, compileOptions)
	if err != nil {
		return nil, r.inTemplates(err)
	}
	return stamp.file(opt.Compiler.Version(), ptx), nil
}

// MissingError says that PTX was not made, since there is no compiler.
type MissingError struct {
	File string // below the output folder
	Why  error  // there is no compiler; may be nil
}

// Error says what is missing and what to do.
func (e *MissingError) Error() string {
	return fmt.Sprintf("make %s: compiling it needs NVRTC: %v", e.File, e.Unwrap())
}

// Unwrap is why there is no compiler.
func (e *MissingError) Unwrap() error {
	if e.Why == nil {
		return errNoCompiler
	}
	return e.Why
}

var errNoCompiler = errors.New("none was given (run make toolchain, or name one with -nvrtc PATH or OVGEN_NVRTC)")
