/** An event whose consequence a listener may prevent. */
export function preventable(): { preventDefault(): void; defaultPrevented(): boolean } {
  let prevented = false
  return {
    preventDefault() {
      prevented = true
    },
    defaultPrevented: () => prevented,
  }
}
