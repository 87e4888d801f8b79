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
	"ovgen/runtime/kernels"
)

// TestHopper runs the products of the tensor cores as they are in the .cu, on a host's stand-in for what the
// instructions do.
func TestHopper(t *testing.T) {
	const each = kernels.EachPeer
	d := device()
	d.Table.Types = []driver.Type{driver.BF16}
	list := []kernels.Kernel{
		{Kind: kernels.Tiles, Rows: 1, Tile: kernels.Tile{Columns: 112, Cluster: 2}},
		{Kind: kernels.Scatter, Rows: 1, Tile: kernels.Tile{Columns: 128, Cluster: 1}},
	}
	flags := []string{"-Wno-unused-parameter", "-Wno-clobbered", "-Wno-psabi"}
	if os.Getenv("OVGEN_SOAK") != "" { // more to compile
		list = append(list,
			kernels.Kernel{Kind: kernels.Tiles, Number: 2, Rows: 1,
				Tile: kernels.Tile{Columns: 224, Cluster: 1, Together: true}},
			kernels.Kernel{Kind: kernels.Scatter, Number: 2, Rows: 1,
				Tile: kernels.Tile{Columns: 144, Cluster: 1, Together: true}})
		flags = append(flags, "-DTOGETHER")
	}
	for _, k := range list {
		k.PrePost, k.PreWait, k.PostPost, k.PostWait, k.Terms = each, each, each, each, 7
		d.Table.Kernels = append(d.Table.Kernels, k)
	}
	c := d.checked()
	dir := c.write(t)
	for _, name := range append(d.Headers(), "check.cu") {
		file := filepath.Join(dir, "device", name)
		if name == "check.cu" {
			file = filepath.Join(dir, packageDir, name)
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		host, err := instructions(string(source))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := os.WriteFile(file, []byte(host), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := compile(t, dir, "hopper", flags...)
	if out, err := run(t, program); err != nil || out != "" {
		t.Fatalf("the kernels do wrong: %v\n%s", err, out)
	}
}

var (
	// An operand of inline PTX: an expression of C++.
	anOperand = regexp.MustCompile(`"[=+]?[a-z]"\((.*?)\)(?:,\s*|\s*$)`)
	// Inline PTX, up to the end of its statement.
	someInline = regexp.MustCompile(`(?s)asm( volatile)?\((.*?)\);`)
	aLiteral   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	aProduct   = regexp.MustCompile(`^wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k16\.f32\.bf16\.bf16$`)
	aNumber    = regexp.MustCompile(`%(\d+)`)
)

// instructions makes of each instruction of inline PTX a call of a function that is named by the mnemonic.
func instructions(source string) (string, error) {
	var wrong error
	out := someInline.ReplaceAllStringFunc(source, func(text string) string {
		m := someInline.FindStringSubmatch(text)
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
		name = "wgmma<" + m[1] + ">"
	}
	return fmt.Sprintf("ptx_%s(%s);", name, strings.Join(args, ", ")), nil
}
