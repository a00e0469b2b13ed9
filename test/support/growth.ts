/** Enough of it that the clock of the processor tells times apart, in µs. */
const measurable = 200_000

/**
 * How much dearer one large work is than eight small ones that are as large together: 1 where it
 * takes linear time, 8 where quadratic. What else the machine does is not counted, nor is its speed.
 */
export function growth(small: number, work: (size: number) => void): number {
  const cost = (times: number, size: number) => {
    const before = process.threadCpuUsage()
    for (let time = 0; time < times; time += 1) work(size)
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  }
  // What runs first is not compiled yet.
  cost(8, small)
  let [ofSmall, ofLarge] = [0, 0]
  while (ofSmall < measurable) {
    ofSmall += cost(8, small)
    ofLarge += cost(1, 8 * small)
  }
  return ofLarge / ofSmall
}
