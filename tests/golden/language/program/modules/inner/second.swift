(int o) second() { o = 2; }
