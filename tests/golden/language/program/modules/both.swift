(string o) both() { o = "swift"; }
