/** What a command takes for terminals of this width; its real output is still read here. */
export function onTerminal(columns: number): readonly string[] {
  const script = `
    import { WriteStream } from 'node:tty'
    const { getColorDepth } = WriteStream.prototype
    for (const stream of [process.stdout, process.stderr])
      Object.assign(stream, { isTTY: true, columns: ${columns}, getColorDepth })`
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
}
