// A counter that loses updates.
void count(void);
int counted(void);
