// The edge where bytes of the hub become values of its own types.

export function read<T>(text: string): T {
  return JSON.parse(text) as T;
}
