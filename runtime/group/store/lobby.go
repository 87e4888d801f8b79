package store

import (
	"fmt"
	"net"
	"slices"
	"sync"
)

// mostSilent is the number of connections without a greeting that may be open. Any process that reaches the address can
// open them, so a new connection replaces the oldest: a rank sends its greeting at once.
const mostSilent = 256

// lobby holds the connections without a greeting, the oldest first.
type lobby struct {
	mu     sync.Mutex
	silent []net.Conn
	turned int // number of connections that were dropped, ended without a greeting, or found no slot
}

// enter adds a connection, and drops the oldest if there are too many.
func (l *lobby) enter(c net.Conn) {
	l.mu.Lock()
	l.silent = append(l.silent, c)
	full := len(l.silent) > mostSilent
	l.mu.Unlock()
	if full {
		l.drop()
	}
}

// drop closes the oldest connection, if there is any.
func (l *lobby) drop() {
	l.mu.Lock()
	var oldest net.Conn
	if len(l.silent) > 0 {
		oldest = l.silent[0]
		l.silent = slices.Delete(l.silent, 0, 1)
		l.turned++
	}
	l.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
}

// leave removes a connection that becomes a member's, or has ended. It reports whether the connection becomes a
// member's: it does unless it was dropped meanwhile.
func (l *lobby) leave(c net.Conn, stays bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.silent, c)
	if i < 0 {
		return false
	}
	l.silent = slices.Delete(l.silent, i, i+1)
	if !stays {
		l.turned++
	}
	return stays
}

// notes returns the number of connections that were turned away, if there were any.
func (l *lobby) notes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.turned {
	case 0:
		return nil
	case 1:
		return []string{"1 connection was refused or silent"}
	}
	return []string{fmt.Sprintf("%d connections were refused or silent", l.turned)}
}
