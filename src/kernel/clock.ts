/** Where the time comes from. Queue timing uses the database's clock instead. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()
