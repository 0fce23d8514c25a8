package bench

import "syscall"

// dieWithParent has the system end a child when we are killed ourselves.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
