package emit

import (
	"fmt"
	"path"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/prove"
)

// programFile is program.go: the caller's API, and the host program.
func (u *unit) programFile() ([]byte, error) {
	sections, err := u.issue()
	if err != nil {
		return nil, err
	}
	f := u.file()
	if u.program.Schedule.UsesNCCL() {
		f.Anon(ncclPath)
	}
	u.identity(f)
	u.shape(f)
	u.buffers(f)
	u.planType(f)
	u.constructor(f)
	for _, x := range sections {
		f.Line()
		f.Add(doc(x.text))
		f.Add(x.function())
	}
	return render(f, path.Join(u.name, "program.go"))
}

// identity is the package's static description.
func (u *unit) identity(f *jen.File) {
	for _, name := range u.constants() {
		what := "the number of streams that the steps take in turn"
		if name == chunkCount {
			what = name + ", the number of chunks that the work is cut in"
		}
		f.Add(docf("%s is %s.", constant(name), what))
		f.Const().Id(constant(name)).Op("=").Lit(int(u.program.Constants[name]))
		f.Line()
	}
	f.Add(doc("Program is the package's name, hash and proof, which ranks compare before they run, and " +
		"the shapes that it takes."))
	f.Var().Id("Program").Op("=").Qual(planPath, "Program").Custom(lineByLine, u.programFields()...)
}

// programFields are the fields of the package's Program.
func (u *unit) programFields() []jen.Code {
	values := []jen.Code{
		set("Name", jen.Lit(u.name)),
		set("Hash", jen.Lit(u.hash())),
		set("Proof", jen.Lit(u.proof())),
	}
	if ranks := u.proven(); len(ranks) > 0 {
		values = append(values, set("Ranks", jen.Index().Int().Values(ranks...)))
	}
	if u.eager() {
		values = append(values, set("Eager", jen.True()))
	}
	if u.puts() {
		values = append(values, set("Puts", jen.True()))
	}
	if u.Proof != nil && u.Proof.Ring() {
		values = append(values, set("Ring", jen.True()))
	}
	if u.program.OverHosts() {
		values = append(values, set("Hosts", jen.True()))
	}
	values = append(values, u.takes()...)
	if u.device {
		values = append(values, set("Code", jen.Op("&").Id("code")))
	}
	return values
}

// hash is the hash of everything that must be equal on all ranks: the host program, its proof and the device code.
func (u *unit) hash() string {
	texts := [][]byte{[]byte(hostir.Print(u.program)), []byte(u.proof())}
	if u.device {
		texts = append(texts, u.code.texts()...)
	}
	return driver.Digest(texts...)
}

// chunkCount is the name of the number of chunks in host programs.
const chunkCount = "S"

// constant is the Go name of a constant that generation binds.
func constant(name string) string {
	if name == chunkCount {
		return "chunks"
	}
	return name
}

// lineByLine writes the fields of a literal in their order, each on a line.
var lineByLine = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}

// proof is the package's stamp: the mesh sizes of its proof and the hash of the proven program.
func (u *unit) proof() string {
	if u.Proof == nil {
		return "unproven"
	}
	text := fmt.Sprintf("proven for D = %s, stamp %.16s", u.Proof.Ranks(), u.Proof.Stamp)
	switch {
	case !u.Proof.Replay():
		text += ", eager only: " + prove.InOrder
	case u.eager():
		text += ", eager only: it exchanges handles in the loop"
	}
	return text
}

// eager reports whether the program must not be captured.
func (u *unit) eager() bool {
	return u.Proof != nil && !u.Proof.Replay() || len(u.inLoop()) > 0
}

// puts reports whether a run writes into peers' memory while a rank waits by stream memory operations. After such a
// wait, the driver does not promise on every link that the rank sees the memory as its peers wrote it.
func (u *unit) puts() bool {
	writes, waits := false, false
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		_, list := s.Views()
		for _, v := range list {
			writes = writes || !v.Peer.IsZero()
		}
		w, _ := s.Signal()
		waits = waits || w.Wait && s.By == ""
	})
	return writes && waits
}

// proven are the mesh sizes that New accepts.
func (u *unit) proven() []jen.Code {
	var ranks []jen.Code
	if u.Proof != nil {
		for _, s := range u.Proof.Sizes {
			ranks = append(ranks, jen.Lit(s.Ranks))
		}
	}
	return ranks
}

// buffers is type Buffers: the caller's memory.
func (u *unit) buffers(f *jen.File) {
	f.Line()
	f.Add(doc(fmt.Sprintf(buffersComment, u.elements()) + " " + u.apart()))
	f.Type().Id("Buffers").StructFunc(func(g *jen.Group) {
		field := func(name string, typ *jen.Statement, remark string) {
			if len(name)+len(remark) > 90 {
				g.Add(doc(name + " is " + remark + "."))
				g.Id(name).Add(typ)
				return
			}
			g.Id(name).Add(typ).Comment(remark)
		}
		for _, b := range u.callers() {
			field(b.Name, jen.Qual(devicePath, "Ptr"), u.declared(b).String()+u.share(b)+"; "+u.held(b))
		}
		if n, remark := u.counts(); n != nil {
			field("Counts", jen.Index().Int(), remark)
		}
	})
}

// apart says which buffers must overlap no other buffer.
func (u *unit) apart() string {
	names := u.writes()
	switch n := len(names); n {
	case 0:
		return "Runs write none of it."
	case 1:
		return fmt.Sprintf("Runs write %s, which must overlap no other.", names[0])
	default:
		return fmt.Sprintf("Runs write %s and %s, which must overlap no other.",
			strings.Join(names[:n-1], ", "), names[n-1])
	}
}

// writes names the caller's buffers that runs write.
func (u *unit) writes() (names []string) {
	written := u.program.Written()
	for _, b := range u.callers() {
		if written[b.Name] {
			names = append(names, b.Name)
		}
	}
	return names
}

// share says which part of a tensor a rank has, and which ranks also read it.
func (u *unit) share(b hostir.Buffer) string {
	_, _, sharded := b.Tensor.Sharded()
	var what []string
	switch {
	case b.Tensor.Root:
		what = append(what, "rank 0's")
	case sharded:
		what = append(what, "this rank's part")
	case u.program.Schedule.MustAgree(b.Name):
		what = append(what, "the same on all ranks")
	}
	if b.Shared {
		what = append(what, "which the peers read")
	}
	text := strings.Join(what, ", ")
	if b.Tensor.Root {
		text += "; zero on the others"
	}
	if text != "" {
		text = ": " + text
	}
	return text + within(b)
}

// within says which tensor lies within a buffer, and in which part of it.
func within(b hostir.Buffer) string {
	t := b.Inner.Tensor
	switch {
	case t.Name == "":
		return ""
	case b.Inner.Part:
		axis, _, _ := t.Sharded()
		rows := t.Axes[axis].Extent
		return fmt.Sprintf("; %s %s is rows r*%s/D to (r+1)*%s/D of it on rank r",
			t.Name, schedule.Tensor{Axes: t.Axes}, rows, rows)
	}
	return fmt.Sprintf("; %s %s is all of it, and a run replaces it", t.Name, schedule.Tensor{Axes: t.Axes})
}

// callers are the buffers that the caller binds.
func (u *unit) callers() []hostir.Buffer {
	var list []hostir.Buffer
	for _, b := range u.program.Buffers {
		if b.Owner == hostir.Caller {
			list = append(list, b)
		}
	}
	return list
}
