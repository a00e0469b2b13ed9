/** What a process sends to its supervisor once it serves. */
export const readyMessage = 'ready'
