package load

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
)

// File reads a file in the folder of the schedule's package. The returned path is relative to the folder of the
// command, if it is below that folder.
func (d *Declaration) File(name string) (text, path string, err error) {
	at := filepath.Join(filepath.Dir(d.pkg.pkg.GoFiles[0]), name)
	b, err := os.ReadFile(at)
	if err != nil {
		return "", "", fmt.Errorf("read %s beside the schedules: %w", name, err)
	}
	return string(b), relative(d.pkg.dir, token.Position{Filename: at}).Filename, nil
}
