// faulty
int x = 1.5;
string s = x + unknown;
