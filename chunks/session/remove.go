package session

// Remove removes all that a process left that has ended: somebody has a copy of it. Its
// peers free its slot when they notice. The error is [folder.ErrLocked] if the process
// lives, [fs.ErrNotExist] if it has left nothing, and else the disk's.
func Remove(dir string) error {
	lock, err := claimSoon(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	return erase(dir)
}
