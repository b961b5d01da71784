/** "ask the host for a new one" → "Ask the host for a new one." A first word like attic-pc is a name and stays. */
export function asSentence(message: string): string {
  const text = message.trim()
  if (text === '') return 'It did not work, and no reason was given.'
  const capital = /^[a-z]+\b(?![-_.\d])/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
  return /[.!?…]$/.test(capital) ? capital : `${capital}.`
}

/** The same without its full stop: for a title, or a line that stands alone. */
export const asTitle = (message: string): string => asSentence(message).replace(/\.$/, '')
