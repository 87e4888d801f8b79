package nvrtc

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"ovgen/templates"
)

// TestEightTiles compiles the kernels of tiles that bench/eighttiles measures: none spills. Where OVGEN_EIGHT_TILES
// names a file, it writes them there.
func TestEightTiles(t *testing.T) {
	source, err := os.ReadFile("../../../../bench/eighttiles/tiles.cu")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := templates.Headers()
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string][]byte{}
	for name, text := range texts {
		headers["../../templates/device/"+name] = text
	}
	products := multiplyEight(128) + multiplyEight(256)
	source = bytes.Replace(source, []byte("//PRODUCTS\n"), []byte(products), 1)
	ptx, err := pinned(t).Compile("tiles.cu", source, headers, early)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pinnedAssembler(t).Usage(ptx)
	if err != nil || len(lines) != 3 {
		t.Errorf("got %d lines, %v, want the registers of 3 kernels", len(lines), err)
	}
	for _, l := range lines {
		t.Log(l)
	}
	if file := os.Getenv("OVGEN_EIGHT_TILES"); file != "" {
		if err := os.WriteFile(file, ptx, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// multiplyEight is a function that multiplies 64 rows of e4m3 by so many columns.
func multiplyEight(columns int) string {
	p := templates.Product{Columns: columns}
	return fmt.Sprintf(`DEVICE void multiply(float (&d)[%[1]d], u64 a, u64 b, bool adds)
{
  asm volatile(
      "{\n\t.reg .pred adds;\n\tsetp.ne.u32 adds, %%%[3]d, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n%[2]dk32.f32.e4m3.e4m3 {"
      "%[4]s"
      "}, %%%[1]d, %%%[5]d, adds, 1, 1;\n\t}"
      : %[6]s
      : "l"(a), "l"(b), "r"((unsigned)adds));
}
`, p.Numbers(), columns, p.Behind()+1, strings.Join(p.Registers(), ", "), p.Behind(),
		strings.Join(p.Operands(), ", "))
}
