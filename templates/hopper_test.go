package templates

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	s "ovgen/schedule"
	"ovgen/verify/sampling"
)

// TestHopper runs the products of the tensor cores as they are in the .cu, on a host's stand-in for what the
// instructions do.
func TestHopper(t *testing.T) {
	sampling.Test(t, 2, 4)
	d := device()
	d.Table.Types = []driver.Type{driver.BF16, driver.FP16}
	for _, k := range transportList() {
		if k.Multiplies() {
			switch {
			case !k.Scatters():
				k.Bias = true
			case k.Number < 2: // the first one adds a tensor, and ends with more
				k.Added, k.Finish = 1, finish(s.Func{Is: s.Plus(s.Times(s.Plus(s.X, s.Row("Bias")), s.Column("S")),
					s.Of("U"))})
			default: // and the others with as many as are taken one subtile at a time
				k.Finish = finish(s.Bias("Bias"), s.Add("R"), s.Add("R2"), s.Add("R3"), s.Add("R4"))
			}
			d.Table.Kernels = append(d.Table.Kernels, k)
		}
	}
	ordered := d.Table.Kernels[0] // the first of tiles
	ordered.Number, ordered.InOrder = 5, true
	d.Table.Kernels = append(d.Table.Kernels, ordered)
	names := []string{"tiles_fp16", "tiles5_fp16", "scatter_bf16"} // as many as compile in a few seconds
	// It runs for longer than it compiles.
	flags := []string{"-O1", "-Wno-unused-parameter", "-Wno-clobbered", "-Wno-psabi"}
	if sampling.All() {
		names = append(names, "tiles_bf16", "tiles2_bf16", "tiles3_fp16", "tiles4_bf16", "scatter_fp16",
			"scatter2_bf16", "scatter3_bf16")
		flags = append(flags, "-DALL")
	}
	if out, err := onCores(t, d, names, "hopper", flags...); err != nil || out != "" {
		t.Fatalf("the kernels do wrong: %v\n%s", err, out)
	}
}

// TestTilesInOrder: kernels of a gather in order differ from others by the order of the depth, and kernels of a sum by
// nothing.
func TestTilesInOrder(t *testing.T) {
	text := func(kind kernels.Kind, inOrder bool) []string {
		d := device()
		for _, k := range transportList() {
			if k.InOrder = inOrder; k.Kind == kind {
				d.Table.Kernels = append(d.Table.Kernels, k)
			}
		}
		all := sections(t, d.checked())
		return strings.Split(all[len(all)-1].text, "\n")
	}
	for kind, want := range map[kernels.Kind][2]string{
		kernels.Scatter: {},
		kernels.Tiles: {`
  // of rows, then the next columns. Every second shard goes back, by columns and by depth, and so
  // begins with what the cache holds of B.
        load(p, m, at.stage, tile, (goes_back(tile.ahead) ? steps - 1 - k : k) * deep, of_cluster);`, `
  // of rows, then the next columns. Every second shard goes back by columns, and so begins with
  // columns that the cache holds of B.
        load(p, m, at.stage, tile, k * deep, of_cluster);`},
	} {
		free, ordered := text(kind, false), text(kind, true)
		for i, lines := range [2][]string{free, ordered} {
			got := ""
			for j, line := range lines {
				if j < len(free) && j < len(ordered) && free[j] != ordered[j] {
					got += "\n" + line
				}
			}
			if got != want[i] || len(free) != len(ordered) || len(free) < 100 {
				t.Errorf("%s, in order or not: %d and %d lines, which differ by%s\nwant%s", kind, len(free),
					len(ordered), got, want[i])
			}
		}
	}
}

// TestFewBoxes runs products of few rows by the tensor cores in the same way.
func TestFewBoxes(t *testing.T) {
	sampling.Test(t, 3, 4)
	functions, apart := fewFunctions()
	d := device(apart...)
	d.FewRows = making(fewrows.Kernels.Early(), functions)
	d.Table.Types = []driver.Type{driver.BF16}
	names := []string{"fewrows16_bf16", "fewrows64_bf16", "fewrows16_made2_bf16", "fewrows64_made1_bf16"}
	flags := []string{"-O1", "-Wno-unused-parameter", "-Wno-clobbered", "-Wno-psabi"}
	if out, err := onCores(t, d, names, "fewboxes", flags...); err != nil || out != "" {
		t.Fatalf("the kernels do wrong: %v\n%s", err, out)
	}
}

// onCores compiles kernels with a program for a host that stands in for the instructions, and runs it: by three seeds
// where everything is tested.
func onCores(t *testing.T, d tested, names []string, name string, flags ...string) (string, error) {
	t.Helper()
	c := d.checked().only(t, names)
	dir := c.write(t)
	for _, name := range append(d.Headers(), "check.cu") {
		file := filepath.Join(dir, "device", name)
		if name == "check.cu" {
			file = filepath.Join(dir, c.name, name)
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(source)
		if name == "fewrows.h" { // its kernels are not run here
			text, _, _ = strings.Cut(text, "#else  // the tensor cores")
			text = strings.Replace(text, "#if defined(OVGEN_HOST) || defined(OVGEN_LOOPS)", "", 1)
		}
		host, err := instructions(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(file, []byte(host), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program, seeds := compile(t, dir, name, flags...), []string{"1"}
	if everything() {
		seeds = append(seeds, "2", "3")
	}
	for _, seed := range seeds {
		t.Setenv("OVGEN_SEED", seed)
		if out, err := run(t, program); err != nil || out != "" {
			return "seed " + seed + ": " + out, err
		}
	}
	return "", nil
}

var (
	// Eight numbers as operands: the array, and which is the first.
	anEight = regexp.MustCompile(`EIGHT\((\w+), (\d+)\)`)
	// An operand of inline PTX: an expression of C++.
	anOperand = regexp.MustCompile(`"[=+]?[a-z]"\((.*?)\)(?:,\s*|\s*$)`)
	// Inline PTX, up to the end of its statement.
	someInline = regexp.MustCompile(`(?s)asm( volatile)?\((.*?)\);`)
	aLiteral   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	aProduct   = regexp.MustCompile(`^wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k16\.f32\.(bf16|f16)\.(bf16|f16)$`)
	aNumber    = regexp.MustCompile(`%(\d+)`)
)

// instructions makes of each instruction of inline PTX a call of a function that is named by the mnemonic.
func instructions(source string) (string, error) {
	var wrong error
	out := someInline.ReplaceAllStringFunc(source, func(text string) string {
		m := someInline.FindStringSubmatch(anEight.ReplaceAllStringFunc(text, eight))
		code, operands := split(m[2])
		var calls strings.Builder
		for _, one := range strings.Split(code, ";") {
			one = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(one), "{"))
			if one == "" || one == "}" {
				continue
			}
			call, err := call(one, operands)
			if err != nil {
				wrong = fmt.Errorf("%w in %s", err, text)
			}
			calls.WriteString(call + " ")
		}
		return "{ " + calls.String() + "}"
	})
	return out, wrong
}

// eight are the operands that EIGHT stands for.
func eight(text string) string {
	m := anEight.FindStringSubmatch(text)
	first, _ := strconv.Atoi(m[2])
	var list []string
	for i := range 8 {
		list = append(list, fmt.Sprintf(`"+f"(%s[%d])`, m[1], first+i))
	}
	return strings.Join(list, ", ")
}

// split is the text of inline PTX without its quotes, and its operands.
func split(inline string) (code string, operands []string) {
	for {
		at := aLiteral.FindStringIndex(inline)
		if at == nil || strings.Contains(inline[:at[0]], ":") {
			break
		}
		text, _ := strconv.Unquote(inline[at[0]:at[1]])
		code, inline = code+text, inline[at[1]:]
	}
	for _, list := range regexp.MustCompile(`\s+:|^:`).Split(inline, -1) {
		for _, o := range anOperand.FindAllStringSubmatch(strings.TrimSpace(list), -1) {
			operands = append(operands, o[1])
		}
	}
	return code, operands
}

// call is an instruction as a statement of C++.
func call(instruction string, operands []string) (string, error) {
	mnemonic, rest, _ := strings.Cut(instruction, " ")
	if mnemonic == ".reg" {
		_, name, _ := strings.Cut(rest, " ")
		return "unsigned " + name + ";", nil
	}
	var args []string
	for _, arg := range strings.Split(strings.NewReplacer("[", "", "]", "", "{", "", "}", "").Replace(rest), ",") {
		arg = strings.ReplaceAll(strings.TrimSpace(arg), "%%", "sreg_")
		if m := aNumber.FindStringSubmatch(arg); m != nil {
			i, _ := strconv.Atoi(m[1])
			if i >= len(operands) {
				return "", fmt.Errorf("there is no operand %d", i)
			}
			arg = operands[i]
		}
		if arg != "_" && arg != "" {
			args = append(args, arg)
		}
	}
	name := strings.NewReplacer(".", "_", ":", "_").Replace(mnemonic)
	if m := aProduct.FindStringSubmatch(mnemonic); m != nil {
		name = fmt.Sprintf("wgmma<%s, of_%s>", m[1], m[2])
	}
	return fmt.Sprintf("ptx_%s(%s);", name, strings.Join(args, ", ")), nil
}
