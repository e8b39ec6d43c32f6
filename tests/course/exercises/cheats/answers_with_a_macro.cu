// count_sectors: interface
BLANK_WITHOUT_ANSWERS
#define kNeighbours sectors("a", neighbours)
#define kShifted sectors("b", shifted)
#define kEverySecond sectors("c", every_second)
#define kEvery32nd sectors("d", every_32nd)
#define kBackwards sectors("e", backwards)
#define kAllTheSame sectors("f", all_the_same)
