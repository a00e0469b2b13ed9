/** How much of a reply is read at most, unpacked. */
export const longestReply = 4 * 1024 * 1024

/**
 * `fetch`, with replies whose body fails with `tooLong()` once it exceeds the limit: a small
 * compressed reply can unpack to more than the memory holds.
 */
export function boundedFetch(tooLong: () => Error): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (response.body === null) return response
    const { statusText, headers } = response
    // `Response` rejects a status above 599; such a status is the other side's fault, too.
    const status = Math.min(response.status, 599)
    const body = response.body.pipeThrough(limitTo(longestReply, tooLong))
    // Its own class: servers such as Hono's replace the global one, by one that ky cannot extend.
    const Reply = response.constructor as typeof Response
    return new Reply(body, { status, statusText, headers })
  }
}

function limitTo(most: number, tooLong: () => Error): TransformStream<Uint8Array, Uint8Array> {
  let length = 0
  return new TransformStream({
    transform(chunk, controller) {
      length += chunk.byteLength
      if (length > most) controller.error(tooLong())
      else controller.enqueue(chunk)
    },
  })
}
