package emit

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dave/jennifer/jen"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
	"ovgen/templates"
)

// The most peers that a kernel signals, with a thread for each, and the most terms that it adds.
const (
	mostPeers = 32
	mostTerms = 64
)

// mostParts is the most parts of rows that a kernel gathers: a launch has 4 KiB of parameters, and takes an address of
// each beside words of every peer.
const mostParts = 256

// table describes the kernels that the program launches: they are made for the ranks that the program was proven for,
// its element types, and the words and terms of each launch.
func (u *unit) table() (kernels.Table, error) {
	var errs []error
	t := kernels.Table{Peers: max(u.maxRanks()-1, 1), Types: u.elementTypes()}
	add := func(k kernels.Kernel) {
		same := func(o kernels.Kernel) bool {
			return o.Kind == k.Kind && o.Bias == k.Bias && o.Added == k.Added && o.Coded == k.Coded &&
				o.Tile == k.Tile && o.InOrder == k.InOrder && o.Spread == k.Spread && signalsAlike(o, k) &&
				sameMade(k.Made, o.Made) && sameMade(k.Finish, o.Finish)
		}
		i := slices.IndexFunc(t.Kernels, same)
		if i < 0 {
			t.Kernels = append(t.Kernels, k)
			return
		}
		o := &t.Kernels[i]
		o.Varies = o.Varies || k.Varies || o.Terms != k.Terms
		o.Terms = max(o.Terms, k.Terms)
	}
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		t.Early = t.Early || s.Ahead
		s = s.Behind()
		if s.By == "" || s.By == hostir.NCCL || s.Kind() == hostir.ProductKind {
			return
		}
		if !does(kernels.Kind(s.By), s) {
			errs = append(errs, fmt.Errorf("kernel %s does no %s", s.By, s.Kind()))
			return
		}
		k := u.kernelOf(s)
		if x, makes := hostir.Applied(s.Do); makes {
			of, err := u.kernelMade(s.By, x, t.Kernels)
			errs = append(errs, err)
			if k.Made = of.Made; !k.Lands() {
				k.Kind = of.Kind
			}
		}
		if x, sends := s.Do.(hostir.PacketRows); sends && len(x.Then.Makes) > 0 {
			of, err := u.widened(x.Then, t.Kernels)
			errs, k.Finish = append(errs, err), of
		}
		if x := hostir.FinishOf(s.Do); len(x.Makes) > 0 {
			of, err := u.finished(s, t.Kernels)
			errs, k.Finish = append(errs, err), of
		}
		for _, tile := range hostir.Tiled(s.Do) {
			k.Tile = kernels.Tile(tile)
			add(k)
		}
		if hostir.Tiled(s.Do) == nil {
			add(k)
		}
	})
	kinds := kernels.Kinds()
	errs = append(errs, unable(t)...)
	slices.SortStableFunc(t.Kernels, func(a, b kernels.Kernel) int {
		return slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind)
	})
	for i := range t.Kernels {
		if i > 0 && t.Kernels[i-1].Kind == t.Kernels[i].Kind {
			t.Kernels[i].Number = max(t.Kernels[i-1].Number, 1) + 1
		}
	}
	return t, errors.Join(errs...)
}

// unable refuses kernels that can't be made, or don't exist for an element type.
func unable(t kernels.Table) (errs []error) {
	for _, k := range t.Kernels {
		if k.Multiplies() {
			if err := k.CheckTile(); err != nil {
				errs = append(errs, fmt.Errorf("kernel %s: %w", k.Kind, err))
			}
			if k.Terms > kernels.MostShards {
				errs = append(errs, fmt.Errorf("kernel %s takes %d peers at most, and it was proven for %d ranks "+
					"(prove it for fewer)", k.Kind, kernels.MostShards, t.Peers+1))
			}
		}
		if k.Added > kernels.MostBeside {
			errs = append(errs, fmt.Errorf("kernel %s adds %d tensors to its sum, and at most %d (add some of them in "+
				"a schedule.Copy of the sum)", k.Kind, k.Added, kernels.MostBeside))
		}
		if k.Gathers() && k.Terms > mostParts {
			errs = append(errs, fmt.Errorf("kernel %s brings %d parts of rows, and at most %d (prove it for fewer "+
				"ranks, or take fewer batches)", k.Kind, k.Terms, mostParts))
		}
		for _, typ := range t.Types {
			if k.Multiplies() && typ.Size() != 2 {
				errs = append(errs, fmt.Errorf("kernel %s multiplies no %s (leave it out of Types)", k.Kind, typ))
				continue
			}
			if k.Computes() && !templates.Adds(typ) {
				errs = append(errs, fmt.Errorf("kernel %s adds up no %s (leave it out of Types)", k.Kind, typ))
			}
			if (k.Copies() || k.Gathers() || k.Lands()) && typ.Size() < 2 {
				errs = append(errs, fmt.Errorf("kernel %s copies elements of at least 2 bytes, not %s "+
					"(leave it out of Types, or let the copy engine copy)", k.Kind, typ))
			}
		}
	}
	return errs
}

// does reports whether a kernel of a kind does the work of a step.
func does(kind kernels.Kind, s hostir.Step) bool {
	if w, ok := s.Signal(); ok {
		return kind == kernels.Wait && w.Wait || kind == kernels.Post && !w.Wait
	}
	return kind.Work() != kernels.Nothing && string(kind.Work()) == string(s.Kind())
}

// signalsAlike reports whether two kernels post and await equal numbers of words at the same places.
func signalsAlike(a, b kernels.Kernel) bool {
	return a.ByBlocks == b.ByBlocks && a.PrePost == b.PrePost && a.PreWait == b.PreWait && a.PostPost == b.PostPost &&
		a.PostWait == b.PostWait
}

// kernelOf is the kernel of a step. The kernels of single posts and waits serve any number of peers.
func (u *unit) kernelOf(s hostir.Step) kernels.Kernel {
	k := kernels.Kernel{Kind: kernels.Kind(s.By), ByBlocks: s.ByBlocks}
	if w, ok := s.Signal(); ok {
		if w.Wait {
			k.PreWait = kernels.EachPeer
		} else {
			k.PostPost = kernels.EachPeer
		}
		return k
	}
	words := func(list []hostir.Word, post, wait *kernels.Words) {
		for _, w := range list {
			n := kernels.One
			if w.Peer.IsZero() {
				n = kernels.EachPeer
			}
			if w.Wait {
				*wait = n
			} else {
				*post = n
			}
		}
	}
	if !s.Kind().Lands() { // kernels of packets use flags in place of words
		words(s.Pre, &k.PrePost, &k.PreWait)
		words(s.Post, &k.PostPost, &k.PostWait)
	}
	switch x := s.Do.(type) {
	case hostir.Tiles:
		k.Terms, _ = u.termsOf([]hostir.View{x.Shards})
		k.Bias, k.InOrder = x.Bias.Buffer != "", x.InOrder
	case hostir.Scatter:
		k.Terms, _ = u.termsOf([]hostir.View{x.Peers})
		k.Added, k.InOrder = len(x.Added), x.InOrder
	case hostir.Packets:
		k.Terms, k.Varies = u.termsOf([]hostir.View{x.Each})
		k.Added = len(x.Added)
	case hostir.PacketSpread:
		k.Terms, k.Varies = u.termsOf([]hostir.View{x.Sum.Each})
		k.Added = len(x.Sum.Added)
		for i, landing := range x.Landings() {
			if landing.Buffer != "" {
				k.Spread |= 1 << i
			}
		}
	case hostir.PacketGather:
		k.Terms, k.Varies = u.termsOf([]hostir.View{x.Each})
	case hostir.PacketRows:
		k.Terms, k.Varies = u.termsOf([]hostir.View{x.Ranks()})
		for i, g := range x.Gathers() {
			if g.To.Buffer != "" {
				k.Spread |= 1 << i
			}
		}
	case hostir.Sum:
		k.Terms, k.Varies = u.termsOf(slices.Concat(x.Terms, x.Scales))
		if len(x.Scales) > 0 {
			k.Coded = u.typeOf(x.Term())
		}
	case hostir.Gather:
		k.Terms, k.Varies = u.termsOf(x.From)
	}
	return k
}

// termsOf is the largest number of terms of a sum, and whether the number varies with the ranks.
func (u *unit) termsOf(list []hostir.View) (most int, varies bool) {
	env := hostir.Env{}
	for name, value := range u.program.Constants {
		env[name] = value
	}
	varies = slices.ContainsFunc(list, func(t hostir.View) bool { return t.Each.Index != "" })
	for d := range u.maxRanks() {
		for r := range d + 1 {
			env["D"], env["r"] = int64(d+1), int64(r)
			n, ok := countTerms(list, env)
			if !ok {
				return mostTerms, true
			}
			most = max(most, n)
		}
	}
	return most, varies
}

// countTerms is the number of terms where env binds the variables.
func countTerms(list []hostir.View, env hostir.Env) (n int, ok bool) {
	for _, t := range list {
		if t.Each.Index == "" {
			n++
			continue
		}
		from, err := t.Each.From.Eval(env)
		to, failed := t.Each.To.Eval(env)
		if err != nil || failed != nil {
			return 0, false
		}
		n += int(max(to-from, 0))
	}
	return n, true
}

// maxRanks is the number of ranks that the kernels serve: the most that the program was proven for.
func (u *unit) maxRanks() int {
	most := mostPeers + 1
	if u.Proof == nil || len(u.Proof.Sizes) == 0 {
		return most
	}
	proven := 1
	for _, s := range u.Proof.Sizes {
		proven = max(proven, s.Ranks)
	}
	return min(proven, most)
}

// elementTypes are the schedule's element types as drivers number them.
func (u *unit) elementTypes() (list []driver.Type) {
	for _, t := range u.program.Schedule.Types {
		if known, ok := driver.ParseType(string(t)); ok {
			list = append(list, known)
		}
	}
	return list
}

// sums reports whether the package adds up tensors.
func (u *unit) sums() bool { return slices.ContainsFunc(u.kernels.Kernels, kernels.Kernel.Sums) }

// limited reports whether a kernel was made for a number of ranks: it has a word for each peer, or a term for each
// rank.
func (u *unit) limited() bool {
	return slices.ContainsFunc(u.kernels.Kernels, func(k kernels.Kernel) bool {
		return k.Varies || templates.Kernel{Kernel: k}.EachPeer()
	})
}

// multipliers are kernels of products: a variable of package fewrows, and the field of a plan that launches them.
type multipliers struct {
	name, field, comment string
	kernels              fewrows.Family
	most                 int                 // rows; 0: as many as there are kernels for
	early                string              // the method with kernels that read their weight ahead; or empty
	functions            []*fewrows.Function // of its kernels; nil among them: some have none
}

// family is the Go of the kernels: the Early ones read their weight ahead.
func (m multipliers) family() *jen.Statement {
	family := jen.Qual(fewRowsPath, m.name)
	if m.most > 0 {
		family.Dot("UpTo").Call(jen.Lit(m.most))
	}
	if m.early != "" {
		family.Dot(m.early).Call()
	}
	return withFunctions(family, m.functions)
}

// multiply has all multipliers, by the kernel's name in host programs.
var multiply = map[string]multipliers{
	hostir.FewRowsKernel: {"Kernels", "few", "products of few rows", fewrows.Kernels, 0, "", nil},
	hostir.NarrowKernel:  {"Narrow", "narrow", "products by weights of eight bits", fewrows.Narrow, 0, "", nil},
	hostir.SquaresKernel: {"Squares", "squares", "products by weights of eight bits with scales of squares",
		fewrows.Squares, 0, "", nil},
}

// fewRows are the multipliers of the package.
func (u *unit) fewRows() (list []multipliers) {
	for _, by := range slices.Sorted(maps.Keys(multiply)) {
		found, early, of := false, false, multiply[by]
		hostir.Steps(u.program.Body, func(s hostir.Step) {
			found, early = found || s.By == by, early || s.By == by && s.Ahead
		})
		if by == hostir.FewRowsKernel {
			of.most = u.program.Schedule.FewRows
			of.kernels = of.kernels.UpTo(of.most)
		}
		switch {
		case early && by == hostir.FewRowsKernel && u.program.Schedule.Invariant: // they make any number of rows
			of.early, of.kernels = "EarlyInTiles", of.kernels.EarlyInTiles()
		case early:
			of.early, of.kernels = "Early", of.kernels.Early()
		}
		if found {
			of.functions = u.functionsBy(by)
			of.kernels = of.kernels.With(of.functions...)
			list = append(list, of)
		}
	}
	return list
}

// deviceCode is the device code of a package with kernels.
func (u *unit) deviceCode() (*device, error) {
	from := "schedule " + u.program.Name
	d := templates.Device{From: from, Table: u.kernels, Formulas: u.formulas}
	for _, f := range u.fewRows() {
		d.FewRows = append(d.FewRows, f.kernels...)
	}
	d.Own, d.Calls = u.ownCode()
	d.About = append([]string{"The kernels of " + u.program.Name +
		"'s transport, launched by the host program in program.go:"}, d.Summary()...)
	return device{name: u.name, from: from, includes: d.Headers(), host: d.Host(), own: u.Own,
		arch: archOf(d)}.render(d.Source())
}
