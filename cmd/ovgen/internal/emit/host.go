package emit

import (
	"bytes"
	"cmp"
	"path"
	"slices"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/driver"
	"ovgen/templates"
)

// emitHost adds package host: the simulator, and the kernels of all packages compiled for the host. Packages whose
// kernels have the same text share one file.
func emitHost(units []*unit, run *device, opt Options, files map[string][]byte) error {
	codes := []*device{run}
	for _, u := range units {
		if u.device {
			codes = append(codes, u.code)
		}
	}
	slices.SortFunc(codes, func(a, b *device) int { return cmp.Compare(a.name, b.name) })
	if err := add(hostDoc(), path.Join(hostName, "doc.go"), files); err != nil {
		return err
	}
	var distinct []*device
	shares := func(d *device) *device { // the first package with the same kernels
		i := slices.IndexFunc(distinct, d.sameKernels)
		if i < 0 {
			i, distinct = len(distinct), append(distinct, d)
		}
		return distinct[i]
	}
	preamble := "#cgo CXXFLAGS: -std=c++17 -Og -g0 -fno-strict-aliasing"
	var register []jen.Code
	for _, d := range codes {
		first := shares(d)
		function := first.name + "_kernels"
		if first == d {
			text, err := d.hostText()
			if err != nil {
				return err
			}
			files[path.Join(hostName, d.name+"_host.cc")] = text
			preamble += "\nconst void *" + function + "(const void *engine);"
		}
		register = append(register, jen.Qual(simPath, "Compiled").Call(jen.Lit(d.name), jen.Lit(d.digest()),
			jen.Qual("unsafe", "Pointer").Call(jen.Qual("C", function))))
	}
	if err := add(hostVendor(distinct, opt), path.Join(hostName, "vendor.go"), files); err != nil {
		return err
	}
	f := hostFile()
	f.CgoPreamble(preamble)
	f.Comment("The kernels are in NAME_host.cc. A package with the same kernels as another has none.")
	f.Func().Id("init").Params().Block(register...)
	return add(f, path.Join(hostName, "kernels.go"), files)
}

func hostFile() *jen.File { return newFile(hostName, runFrom) }

// hostDoc imports the simulator and its tables of kernels, also in a build without cgo.
func hostDoc() *jen.File {
	f := hostFile()
	f.PackageComment(comment(wrap("Package " + hostName + " lets a program run the generated packages in the " +
		"simulator: import it for its side effects. It imports the simulator and, in builds with cgo, holds the " +
		"kernels of all packages compiled for the host.")))
	f.Anon(simPath, tablesPath)
	return f
}

// hostVendor imports the packages whose .cu files the package's C++ includes.
func hostVendor(codes []*device, opt Options) *jen.File {
	f := hostFile()
	f.HeaderComment("//go:build vendored")
	f.Add(doc("No build has the tag. The imports make go mod vendor copy the .cu files and headers that the C++ " +
		"includes."))
	f.Anon(path.Join(opt.ImportPath, headersName))
	for _, d := range codes {
		if d.name != runName {
			f.Anon(path.Join(opt.ImportPath, d.name))
		}
	}
	return f
}

// hostText is the file NAME_host.cc.
func (d *device) hostText() ([]byte, error) {
	included := driver.Digest(append(d.texts(), d.headers[templates.HostHeader])...)
	text, err := templates.Render(templates.Part{Template: "host.cc.tmpl",
		Data: templates.Host{Package: d.name, From: d.from, Source: included, Kernels: d.host}})
	return text.Bytes, err
}

// sameKernels reports whether both packages have the same text below the head comment.
func (d *device) sameKernels(o *device) bool {
	below := func(x *device) []byte {
		_, text, _ := bytes.Cut(x.source.Bytes, []byte("\n\n"))
		return text
	}
	return bytes.Equal(below(d), below(o)) && slices.Equal(d.host, o.host)
}
