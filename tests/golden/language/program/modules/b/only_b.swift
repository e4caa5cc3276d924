(string o) only_b() { o = "only b"; }
