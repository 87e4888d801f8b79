package nvrtc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Assembler runs ptxas.
type Assembler struct {
	path string
	used map[string][]string // lines by the PTX that was assembled
}

// arch is the GPU for which registers are counted.
const arch = "sm_90a"

var (
	entryLine = regexp.MustCompile(`Compiling entry function '([^']+)'`)
	spillLine = regexp.MustCompile(`(\d+) bytes spill stores, (\d+) bytes spill loads`)
	lossLine  = regexp.MustCompile(`Potential Performance Loss|setmaxnreg.*ignored`)
	usedLine  = regexp.MustCompile(`Used (\d+) registers`)
)

// Usage assembles PTX and returns a line for each kernel: "wait: 12 registers". It returns an error if a kernel spills
// registers to memory, or waits for each of its multiplications. It assembles PTX that packages share once. Only one
// goroutine may use the assembler at a time.
func (a *Assembler) Usage(ptx []byte) ([]string, error) {
	key := keyOf("", ptx, nil, nil)
	if lines, ok := a.used[key]; ok {
		return slices.Clone(lines), nil
	}
	lines, err := a.assemble(ptx)
	if err == nil {
		a.used[key] = slices.Clone(lines)
	}
	return lines, err
}

func (a *Assembler) assemble(ptx []byte) ([]string, error) {
	dir, err := os.MkdirTemp("", "ovgen")
	if err != nil {
		return nil, fmt.Errorf("assemble PTX: %w", err)
	}
	defer os.RemoveAll(dir)
	in := filepath.Join(dir, "kernels.ptx")
	if err := os.WriteFile(in, ptx, 0o600); err != nil {
		return nil, fmt.Errorf("assemble PTX: %w", err)
	}
	var log bytes.Buffer
	cmd := exec.Command(a.path, "-arch="+arch, "-v", "-o", filepath.Join(dir, "kernels.cubin"), in)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("assemble PTX with %s: %w\n%s", a.path, err, strings.TrimSpace(log.String()))
	}
	return usage(log.String())
}

// usage reads the output of ptxas -v.
func usage(log string) ([]string, error) {
	var lines []string
	kernel := ""
	for line := range strings.Lines(log) {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			kernel = m[1]
		}
		if m := lossLine.FindString(line); m != "" {
			return nil, fmt.Errorf("kernel %s: ptxas makes slow code of it: %s", kernel, strings.TrimSpace(line))
		}
		if m := spillLine.FindStringSubmatch(line); m != nil && (m[1] != "0" || m[2] != "0") {
			return nil, fmt.Errorf("kernel %s spills registers: %s bytes stored, %s loaded (use fewer values at a "+
				"time)", kernel, m[1], m[2])
		}
		if m := usedLine.FindStringSubmatch(line); m != nil && kernel != "" {
			lines = append(lines, fmt.Sprintf("%s: %s registers", kernel, m[1]))
			kernel = ""
		}
	}
	return lines, nil
}
